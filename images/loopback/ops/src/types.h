// The element types of the operators, and the type each is computed in.
#pragma once

#include <cmath>
#include <type_traits>

#include "paddle/phi/api/all.h"

namespace loopback {

using Half = phi::dtype::float16;
using Brain = phi::dtype::bfloat16;

// Applies a macro to each element type: the ones that DispatchFloat below calls its body with.
#define LOOPBACK_FOR_EACH_TYPE(MACRO) MACRO(float) MACRO(double) MACRO(Half) MACRO(Brain)

// float64 is computed in float64; everything narrower in float32.
template <typename T>
struct AccumulatorOf {
  using Type = float;
};
template <>
struct AccumulatorOf<double> {
  using Type = double;
};
template <typename T>
using Accumulator = typename AccumulatorOf<T>::Type;

// `value` in the narrower type T. Paddle's own conversion to float16 shifts by more bits
// than there are for zero and for what is too small: those are decided here.
template <typename T>
T Narrow(Accumulator<T> value) {
  if constexpr (std::is_same_v<T, Half>) {
    constexpr float kHalfOfSmallest = 0x1p-25F;  // it, and what is smaller, rounds to zero
    if (std::fabs(value) <= kHalfOfSmallest) {
      return phi::dtype::raw_uint16_to_float16(std::signbit(value) ? 0x8000 : 0);
    }
  }
  return static_cast<T>(value);
}

template <typename T>
struct TypeTag {
  using Type = T;
};

// Calls `body` with the TypeTag of `dtype`; raises an error that names `op` for a
// type that no operator here takes.
template <typename Body>
void DispatchFloat(const char* op, paddle::DataType dtype, const Body& body) {
  switch (dtype) {
    case paddle::DataType::FLOAT32: return body(TypeTag<float>{});
    case paddle::DataType::FLOAT64: return body(TypeTag<double>{});
    case paddle::DataType::FLOAT16: return body(TypeTag<Half>{});
    case paddle::DataType::BFLOAT16: return body(TypeTag<Brain>{});
    default:
      PD_THROW(op, ": takes float16, bfloat16, float32 or float64, got ", dtype);
  }
}

}  // namespace loopback
