#include <cmath>
#include <limits>

#include "attention.h"
#include "parallel.h"
#include "tile.h"

namespace loopback {
namespace {

// One tile of queries of one head: what is known after the keys seen so far.
template <typename A>
class OnlineSoftmax {
 public:
  OnlineSoftmax(std::int64_t rows, std::int64_t dim)
      : dim_(dim), max_(rows, -std::numeric_limits<A>::infinity()), sum_(rows, A{0}),
        output_(rows * dim, A{0}) {}

  // Takes in `count` keys of which row `r` has these scores, and their values. What was
  // summed relative to the old maximum is first rescaled to the new one.
  void Add(std::int64_t r, A* scores, std::int64_t count, const A* values) {
    const A max = std::max(max_[r], *std::max_element(scores, scores + count));
    const A rescale = std::exp(max_[r] - max);
    A* output = &output_[r * dim_];
    for (std::int64_t c = 0; c < dim_; ++c) output[c] *= rescale;
    sum_[r] *= rescale;
    for (std::int64_t j = 0; j < count; ++j) {
      const A weight = std::exp(scores[j] - max);
      sum_[r] += weight;
      Axpy(dim_, weight, values + j * dim_, output);
    }
    max_[r] = max;
  }

  // Writes the finished row; returns the logarithm of its sum of exponentials.
  template <typename T>
  A Finish(std::int64_t r, T* out) const {
    const bool blind = sum_[r] == 0;  // it saw no key
    for (std::int64_t c = 0; c < dim_; ++c) {
      out[c] = Narrow<T>(blind ? A{0} : output_[r * dim_ + c] / sum_[r]);
    }
    return blind ? -std::numeric_limits<A>::infinity() : max_[r] + std::log(sum_[r]);
  }

 private:
  std::int64_t dim_;
  std::vector<A> max_;
  std::vector<A> sum_;
  std::vector<A> output_;
};

// The rows [begin, begin + rows) of one head.
template <typename T>
void ForwardTile(const AttentionShape& shape, const HeadRows<const T>& q, const HeadRows<const T>& k,
                 const HeadRows<const T>& v, std::int64_t begin, std::int64_t rows,
                 const HeadRows<T>& out, Accumulator<T>* lse) {
  using A = Accumulator<T>;
  std::vector<A> queries, keys, values, scores;
  LoadRows(q, begin, rows, shape.dim, static_cast<A>(shape.scale), &queries);
  OnlineSoftmax<A> state(rows, shape.dim);
  const std::int64_t seen = shape.Visible(begin + rows - 1);
  for (std::int64_t key = 0; key < seen; key += kTileCols) {
    const std::int64_t cols = std::min(kTileCols, seen - key);
    LoadTransposed(k, key, cols, shape.dim, &keys);
    LoadRows(v, key, cols, shape.dim, A{1}, &values);
    Multiply(queries, keys, rows, shape.dim, &scores);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t count = std::min(cols, shape.Visible(begin + r) - key);
      if (count > 0) state.Add(r, &scores[r * kTileCols], count, values.data());
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) lse[r] = state.Finish(r, out[begin + r]);
}

}  // namespace

template <typename T>
void AttentionForward(const AttentionShape& shape, const T* q, const T* k, const T* v, T* out,
                      Accumulator<T>* lse) {
  const std::int64_t tiles = (shape.seq_q + kTileRows - 1) / kTileRows;
  const std::int64_t items = shape.batch * shape.heads * tiles;
  const double operations = 4.0 * static_cast<double>(items * kTileRows) *
                            static_cast<double>(shape.seq_k * shape.dim);
  ParallelFor(items, operations, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t item = first; item < last; ++item) {
      const std::int64_t b = item / tiles / shape.heads;
      const std::int64_t head = item / tiles % shape.heads;
      const std::int64_t kv_head = head / (shape.heads / shape.kv_heads);
      const std::int64_t begin = item % tiles * kTileRows;
      const HeadRows<const T> q_rows(q, b, shape.seq_q, shape.heads, head, shape.dim);
      const HeadRows<const T> k_rows(k, b, shape.seq_k, shape.kv_heads, kv_head, shape.dim);
      const HeadRows<const T> v_rows(v, b, shape.seq_k, shape.kv_heads, kv_head, shape.dim);
      const HeadRows<T> out_rows(out, b, shape.seq_q, shape.heads, head, shape.dim);
      ForwardTile<T>(shape, q_rows, k_rows, v_rows, begin, std::min(kTileRows, shape.seq_q - begin),
                  out_rows, lse + (b * shape.heads + head) * shape.seq_q + begin);
    }
  });
}

#define LOOPBACK_INSTANTIATE(T)                                                              \
  template void AttentionForward(const AttentionShape&, const T*, const T*, const T*, T*, \
                                 Accumulator<T>*);
LOOPBACK_FOR_EACH_TYPE(LOOPBACK_INSTANTIATE)
#undef LOOPBACK_INSTANTIATE

}  // namespace loopback
