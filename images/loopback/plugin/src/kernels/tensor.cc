#include "kernels/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "kernels/refuse.h"

namespace loopback {

Extents Dims(const PD_Tensor* tensor) {
  Extents dims(PD_TensorGetNumDims(tensor, nullptr));
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = PD_TensorGetDim(tensor, i, nullptr);
  return dims;
}

Extents Strides(const PD_Tensor* tensor) {
  Extents strides(PD_TensorGetNumStrides(tensor, nullptr));
  for (std::size_t i = 0; i < strides.size(); ++i) {
    strides[i] = PD_TensorGetStride(tensor, i, nullptr);
  }
  return strides;
}

Extents ContiguousStrides(const Extents& dims) {
  Extents strides(dims.size());
  std::int64_t step = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

void* Data(const PD_Tensor* tensor) { return PD_TensorGetDataPointer(tensor, nullptr); }

void SetLayout(PD_Tensor* tensor, const Extents& dims, const Extents& strides) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (std::max(dims[i], std::abs(strides[i])) > std::numeric_limits<std::int32_t>::max()) {
      Refuse("Paddle's C interface takes sizes and strides up to 2^31 - 1 only");
    }
  }
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (Dims(tensor) != dims || ElementCount(dims) == 0) {
    PD_TensorSetDims(tensor, rank, dims.data(), nullptr);
  }
  if (ElementCount(dims) > 0) PD_TensorSetStrides(tensor, rank, strides.data(), nullptr);
}

void* AllocateDense(const PD_DeviceContext* context, PD_Tensor* tensor, PD_DataType dtype) {
  const Extents dims = Dims(tensor);
  SetLayout(tensor, dims, ContiguousStrides(dims));
  PD_TensorSetOffset(tensor, 0, nullptr);
  return PD_DeviceContextAllocateTensor(context, tensor, 0, dtype, nullptr);
}

std::int64_t ElementCount(const Extents& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

std::size_t ElementSize(PD_DataType dtype) {
  switch (dtype) {
    case BOOL:
    case UINT8:
    case INT8:
      return 1;
    case INT16:
    case FLOAT16:
    case BFLOAT16:
      return 2;
    case INT32:
    case FLOAT32:
      return 4;
    case INT64:
    case FLOAT64:
    case COMPLEX64:
      return 8;
    case COMPLEX128:
      return 16;
    default:
      Refuse("no kernel handles tensors of this type");
  }
}

}  // namespace loopback
