// RMSNorm over the last dimension: y = x / sqrt(mean(x^2) + epsilon) * weight.
// Pure: plain pointers to `rows` x `width` elements. Instantiated for every type
// of types.h.
#pragma once

#include <cstdint>

namespace loopback {

template <typename T>
struct RmsNormInput {
  const T* x;
  const T* weight;  // `width` elements
  std::int64_t rows;
  std::int64_t width;
  double epsilon;
};

template <typename T>
void RmsNormForward(const RmsNormInput<T>& in, T* y);

// `dy` is the gradient of y; writes that of x and that of the weight.
template <typename T>
void RmsNormBackward(const RmsNormInput<T>& in, const T* dy, T* dx, T* dweight);

}  // namespace loopback
