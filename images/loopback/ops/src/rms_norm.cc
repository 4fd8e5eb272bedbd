#include "rms_norm.h"

#include <cmath>
#include <vector>

#include "parallel.h"
#include "types.h"

namespace loopback {
namespace {

template <typename T>
Accumulator<T> InverseRms(const RmsNormInput<T>& in, const T* x) {
  using A = Accumulator<T>;
  A sum = 0;
  for (std::int64_t i = 0; i < in.width; ++i) sum += static_cast<A>(x[i]) * static_cast<A>(x[i]);
  return A{1} / std::sqrt(sum / static_cast<A>(in.width) + static_cast<A>(in.epsilon));
}

template <typename T>
double Operations(const RmsNormInput<T>& in) {
  return 4.0 * static_cast<double>(in.rows) * static_cast<double>(in.width);
}

// dx = scale * (dy * weight - x * scale^2 * mean(dy * weight * x)) of one row.
template <typename T>
void RowGradient(const RmsNormInput<T>& in, const T* x, const T* dy, Accumulator<T> scale, T* dx) {
  using A = Accumulator<T>;
  A dot = 0;
  for (std::int64_t i = 0; i < in.width; ++i) {
    dot += static_cast<A>(dy[i]) * static_cast<A>(in.weight[i]) * static_cast<A>(x[i]);
  }
  const A shrink = dot * scale * scale / static_cast<A>(in.width);
  for (std::int64_t i = 0; i < in.width; ++i) {
    const A straight = static_cast<A>(dy[i]) * static_cast<A>(in.weight[i]);
    dx[i] = Narrow<T>(scale * (straight - static_cast<A>(x[i]) * shrink));
  }
}

// Sums over rows in their order, so the result does not depend on the columns' split.
template <typename T>
void WeightGradient(const RmsNormInput<T>& in, const T* dy, const Accumulator<T>* scales,
                    std::int64_t begin, std::int64_t end, T* dweight) {
  using A = Accumulator<T>;
  std::vector<A> sums(end - begin, A{0});
  for (std::int64_t row = 0; row < in.rows; ++row) {
    const std::int64_t at = row * in.width;
    for (std::int64_t i = begin; i < end; ++i) {
      sums[i - begin] += static_cast<A>(dy[at + i]) * static_cast<A>(in.x[at + i]) * scales[row];
    }
  }
  for (std::int64_t i = begin; i < end; ++i) dweight[i] = Narrow<T>(sums[i - begin]);
}

}  // namespace

template <typename T>
void RmsNormForward(const RmsNormInput<T>& in, T* y) {
  using A = Accumulator<T>;
  ParallelFor(in.rows, Operations(in), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* x = in.x + row * in.width;
      const A scale = InverseRms(in, x);
      for (std::int64_t i = 0; i < in.width; ++i) {
        const A value = static_cast<A>(x[i]) * scale * static_cast<A>(in.weight[i]);
        y[row * in.width + i] = Narrow<T>(value);
      }
    }
  });
}

template <typename T>
void RmsNormBackward(const RmsNormInput<T>& in, const T* dy, T* dx, T* dweight) {
  std::vector<Accumulator<T>> scales(in.rows);
  ParallelFor(in.rows, Operations(in), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * in.width;
      scales[row] = InverseRms(in, in.x + at);
      RowGradient(in, in.x + at, dy + at, scales[row], dx + at);
    }
  });
  ParallelFor(in.width, Operations(in), [&](std::int64_t begin, std::int64_t end) {
    WeightGradient(in, dy, scales.data(), begin, end, dweight);
  });
}

#define LOOPBACK_INSTANTIATE(T)                                   \
  template void RmsNormForward(const RmsNormInput<T>& in, T* y);  \
  template void RmsNormBackward(const RmsNormInput<T>& in, const T* dy, T* dx, T* dweight);
LOOPBACK_FOR_EACH_TYPE(LOOPBACK_INSTANTIATE)
#undef LOOPBACK_INSTANTIATE

}  // namespace loopback
