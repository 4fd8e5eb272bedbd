// What every kernel needs: to be registered, and to put its work on a stream.
//
// Only Paddle's C functions are used, which are the same in every 3.x release: the
// library must be loadable by a Paddle that it does not fit, in order to decline.
#pragma once

#include <vector>

#include "paddle/phi/capi/include/c_kernel_registry.h"
#include "runtime/stream.h"

namespace loopback {

struct Kernel {
  const char* name;
  std::vector<PD_DataType> dtypes;
  std::vector<PD_KernelArgumentType> inputs;
  std::vector<PD_KernelArgumentType> attributes;
  std::vector<PD_KernelArgumentType> outputs;
  void (*run)(PD_KernelContext* context);  // for the executor of static graphs
  void* call;  // the same with plain arguments, in Paddle's order, for eager mode
};

void Register(Kernel kernel);

// Counts one launch of `name` and queues `body` on the stream of `context`.
void Launch(const PD_DeviceContext* context, const char* name, Task body);

// All types of tensors, for the kernels which only move data.
std::vector<PD_DataType> AllTypes();

}  // namespace loopback
