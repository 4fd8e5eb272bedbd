#include "kernels/kernel.h"

#include <utility>

#include "runtime/runtime.h"

namespace loopback {
namespace {

// Outputs have the kernel's own type, which is Paddle's default.
void KeepArgumentTypes(const PD_KernelKey*, PD_Kernel*) {}

}  // namespace

void Register(Kernel kernel) {
  for (const PD_DataType dtype : kernel.dtypes) {
    PD_RegisterPhiKernel(kernel.name, LOOPBACK_DEVICE_TYPE, dtype, ALL_LAYOUT, kernel.inputs.size(),
                         kernel.inputs.data(), kernel.attributes.size(), kernel.attributes.data(),
                         kernel.outputs.size(), kernel.outputs.data(), KeepArgumentTypes,
                         kernel.run, kernel.call);
  }
}

void Launch(const PD_DeviceContext* context, const char* name, Task body) {
  Runtime::Get().stats().CountKernel(name);
  auto* stream = reinterpret_cast<Stream*>(PD_DeviceContextGetStream(context, nullptr));
  stream->Enqueue(std::move(body));
}

// Without UINT16, UINT32 and UINT64: a kernel for them makes `import paddle` fail
// before 3.3, and no tensor of Python has these types.
std::vector<PD_DataType> AllTypes() {
  return {BOOL,    UINT8,   INT8,     INT16,     INT32,    INT64,
          FLOAT16, FLOAT32, FLOAT64, BFLOAT16, COMPLEX64, COMPLEX128};
}

}  // namespace loopback
