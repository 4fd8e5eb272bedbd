// Bookkeeping of every operator: where its tensors are, and how often it ran.
#pragma once

#include <initializer_list>

#include "paddle/phi/api/all.h"

namespace loopback {

// Checks that all tensors with elements are on one place, the CPU or a loopback device; waits until the work queued on that device is done; counts one
// run of `op`. After this the data of the tensors may be read.
void EnterOp(const char* op, std::initializer_list<const paddle::Tensor*> tensors);

// A new tensor on the place of `like`.
paddle::Tensor NewTensor(const std::vector<std::int64_t>& shape, paddle::DataType dtype,
                         const paddle::Tensor& like);

}  // namespace loopback
