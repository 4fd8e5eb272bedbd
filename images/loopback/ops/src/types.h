// The element types of the operators, and the type each is computed in.
#pragma once

#include "paddle/phi/api/all.h"

namespace loopback {

using Half = phi::dtype::float16;
using Brain = phi::dtype::bfloat16;

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
