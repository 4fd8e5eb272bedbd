// Attention over tiles of keys, without ever holding the seq_q x seq_k matrix:
//   out = softmax(scale * q k^T) v
// Pure: plain pointers; instantiated for every type of types.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "types.h"

namespace loopback {

struct AttentionShape {
  std::int64_t batch;
  std::int64_t seq_q;
  std::int64_t seq_k;
  std::int64_t heads;     // a multiple of kv_heads: neighbours share one head of keys
  std::int64_t kv_heads;
  std::int64_t dim;
  bool causal;
  double scale;

  // How many keys, from the first, query `row` sees. A causal mask is aligned to the
  // end: the last query sees all keys.
  std::int64_t Visible(std::int64_t row) const {
    if (!causal) return seq_k;
    return std::clamp<std::int64_t>(row + seq_k - seq_q + 1, 0, seq_k);
  }
};

// q, out, dout, dq are [batch, seq_q, heads, dim]; k, v, dk, dv are
// [batch, seq_k, kv_heads, dim]; lse is [batch, heads, seq_q].

// `lse` receives the logarithm of each row's sum of exponentials; a row that sees no
// key gets minus infinity there, and zeros in `out`.
template <typename T>
void AttentionForward(const AttentionShape& shape, const T* q, const T* k, const T* v, T* out,
                      Accumulator<T>* lse);

// The results and the gradient of `out`, as the backward pass reads them.
template <typename T>
struct AttentionSaved {
  const T* q;
  const T* k;
  const T* v;
  const T* out;
  const Accumulator<T>* lse;
  const T* dout;
};

template <typename T>
void AttentionBackward(const AttentionShape& shape, const AttentionSaved<T>& saved, T* dq, T* dk,
                       T* dv);

}  // namespace loopback
