#include <cmath>

#include "attention.h"
#include "parallel.h"
#include "tile.h"

namespace loopback {
namespace {

// The gradients of one head of keys and values, over all the heads of queries that
// share it. Their order is fixed, so the sums never depend on the number of cores.
template <typename T>
class KeyHead {
 public:
  using A = Accumulator<T>;

  KeyHead(const AttentionShape& shape, const AttentionSaved<T>& saved, std::int64_t batch,
          std::int64_t kv_head)
      : shape_(shape), saved_(saved), batch_(batch),
        k_(saved.k, batch, shape.seq_k, shape.kv_heads, kv_head, shape.dim),
        v_(saved.v, batch, shape.seq_k, shape.kv_heads, kv_head, shape.dim),
        dk_(shape.seq_k * shape.dim, A{0}), dv_(shape.seq_k * shape.dim, A{0}) {}

  // Adds what query head `head` contributes, and writes its gradient of q.
  void AddQueryHead(std::int64_t head, T* dq) {
    const HeadRows<const T> q = Queries(saved_.q, head);
    const HeadRows<const T> out = Queries(saved_.out, head);
    const HeadRows<const T> dout = Queries(saved_.dout, head);
    const HeadRows<T> dq_rows(dq, batch_, shape_.seq_q, shape_.heads, head, shape_.dim);
    lse_ = saved_.lse + (batch_ * shape_.heads + head) * shape_.seq_q;
    for (begin_ = 0; begin_ < shape_.seq_q; begin_ += kTileRows) {
      rows_ = std::min(kTileRows, shape_.seq_q - begin_);
      LoadRows(q, begin_, rows_, shape_.dim, static_cast<A>(shape_.scale), &queries_);
      LoadRows(dout, begin_, rows_, shape_.dim, A{1}, &dout_);
      LoadRows(out, begin_, rows_, shape_.dim, A{1}, &out_);
      AddTile();
      StoreRows(dq_.data(), rows_, static_cast<A>(shape_.scale), dq_rows, begin_);
    }
  }

  void Store(const HeadRows<T>& dk, const HeadRows<T>& dv) const {
    StoreRows(dk_.data(), shape_.seq_k, A{1}, dk, 0);
    StoreRows(dv_.data(), shape_.seq_k, A{1}, dv, 0);
  }

 private:
  HeadRows<const T> Queries(const T* tensor, std::int64_t head) const {
    return {tensor, batch_, shape_.seq_q, shape_.heads, head, shape_.dim};
  }

  void StoreRows(const A* from, std::int64_t rows, A factor, const HeadRows<T>& to,
                 std::int64_t begin) const {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < shape_.dim; ++c) {
        to[begin + r][c] = Narrow<T>(from[r * shape_.dim + c] * factor);
      }
    }
  }

  // One tile of queries against every tile of keys it sees.
  void AddTile() {
    dq_.assign(rows_ * shape_.dim, A{0});
    const std::int64_t seen = shape_.Visible(begin_ + rows_ - 1);
    for (std::int64_t key = 0; key < seen; key += kTileCols) {
      const std::int64_t cols = std::min(kTileCols, seen - key);
      LoadTransposed(k_, key, cols, shape_.dim, &transposed_);
      Multiply(queries_, transposed_, rows_, shape_.dim, &scores_);
      LoadTransposed(v_, key, cols, shape_.dim, &transposed_);
      Multiply(dout_, transposed_, rows_, shape_.dim, &dscores_);
      LoadRows(k_, key, cols, shape_.dim, A{1}, &keys_);
      for (std::int64_t r = 0; r < rows_; ++r) {
        AddRow(r, key, std::min(cols, shape_.Visible(begin_ + r) - key));
      }
    }
  }

  // One query against `count` keys from `key`: the softmax's weights come back from
  // the saved sums; the gradient of a score is weight * (dweight - dot(dout, out)).
  void AddRow(std::int64_t r, std::int64_t key, std::int64_t count) {
    const std::int64_t dim = shape_.dim;
    const A* dout = &dout_[r * dim];
    const A dot = Dot(dim, dout, &out_[r * dim]);
    for (std::int64_t j = 0; j < count; ++j) {
      const A weight = std::exp(scores_[r * kTileCols + j] - lse_[begin_ + r]);
      const A dscore = weight * (dscores_[r * kTileCols + j] - dot);
      Axpy(dim, weight, dout, &dv_[(key + j) * dim]);
      Axpy(dim, dscore, &queries_[r * dim], &dk_[(key + j) * dim]);
      Axpy(dim, dscore, &keys_[j * dim], &dq_[r * dim]);
    }
  }

  const AttentionShape& shape_;
  const AttentionSaved<T>& saved_;
  const std::int64_t batch_;
  const HeadRows<const T> k_, v_;
  std::vector<A> dk_, dv_;  // of the whole head
  const A* lse_ = nullptr;  // of the present head of queries
  std::int64_t begin_ = 0;  // first row of the present tile
  std::int64_t rows_ = 0;
  std::vector<A> queries_, dout_, out_, dq_;                   // [rows_][dim]
  std::vector<A> keys_, transposed_, scores_, dscores_;
};

}  // namespace

template <typename T>
void AttentionBackward(const AttentionShape& shape, const AttentionSaved<T>& saved, T* dq, T* dk,
                       T* dv) {
  const std::int64_t group = shape.heads / shape.kv_heads;
  const double operations = 10.0 * static_cast<double>(shape.batch * shape.heads * shape.seq_q) *
                            static_cast<double>(shape.seq_k * shape.dim);
  ParallelFor(shape.batch * shape.kv_heads, operations, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t item = first; item < last; ++item) {
      const std::int64_t b = item / shape.kv_heads;
      const std::int64_t kv_head = item % shape.kv_heads;
      KeyHead<T> keys(shape, saved, b, kv_head);
      for (std::int64_t i = 0; i < group; ++i) keys.AddQueryHead(kv_head * group + i, dq);
      keys.Store({dk, b, shape.seq_k, shape.kv_heads, kv_head, shape.dim},
                 {dv, b, shape.seq_k, shape.kv_heads, kv_head, shape.dim});
    }
  });
}

#define LOOPBACK_INSTANTIATE(T) \
  template void AttentionBackward(const AttentionShape&, const AttentionSaved<T>&, T*, T*, T*);
LOOPBACK_FOR_EACH_TYPE(LOOPBACK_INSTANTIATE)
#undef LOOPBACK_INSTANTIATE

}  // namespace loopback
