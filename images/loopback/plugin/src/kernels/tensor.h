// Reading Paddle's tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "paddle/phi/capi/include/c_device_context.h"
#include "paddle/phi/capi/include/c_tensor.h"

namespace loopback {

using Extents = std::vector<std::int64_t>;

// Sizes of each dimension; empty for a scalar.
Extents Dims(const PD_Tensor* tensor);

// Distance between neighbours along each dimension, in elements.
Extents Strides(const PD_Tensor* tensor);
Extents ContiguousStrides(const Extents& dims);

// The first element. The tensor must not be empty.
void* Data(const PD_Tensor* tensor);

// Gives `tensor` these sizes and strides; an empty one gets the strides that Paddle
// has for empty tensors. Refuses more than 32 bits: the C interface would cut
// them without a word.
void SetLayout(PD_Tensor* tensor, const Extents& dims, const Extents& strides);

// Makes `tensor` dense with its present sizes, allocates it, returns its data
// (which is of no use when it has no elements).
void* AllocateDense(const PD_DeviceContext* context, PD_Tensor* tensor, PD_DataType dtype);

std::int64_t ElementCount(const Extents& dims);
std::size_t ElementSize(PD_DataType dtype);

}  // namespace loopback
