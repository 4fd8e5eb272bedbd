// contiguous: a dense copy of a tensor of any layout.
#include "kernels/kernel.h"
#include "kernels/kernels.h"
#include "kernels/strided.h"

namespace loopback {
namespace {

void Contiguous(const PD_DeviceContext* context, const PD_Tensor* x, PD_Tensor* out) {
  const PD_DataType dtype = PD_TensorGetPDDataType(x, nullptr);
  const Layout layout{Dims(x), Strides(x)};
  void* to = AllocateDense(context, out, dtype);
  if (ElementCount(layout.dims) == 0) return;
  Launch(context, "contiguous", [=, from = Data(x)] {
    CopyElements(ElementSize(dtype), layout, from, ContiguousStrides(layout.dims), to);
  });
}

void RunContiguous(PD_KernelContext* context) {
  Contiguous(PD_KernelContextGetDeviceContext(context), PD_KernelContextInputAt(context, 0),
             PD_KernelContextOutputAt(context, 0));
}

}  // namespace

void RegisterContiguous() {
  Register({"contiguous",
            AllTypes(),
            {PD_ARG_TYPE_TENSOR},
            {},
            {PD_ARG_TYPE_TENSOR},
            RunContiguous,
            reinterpret_cast<void*>(Contiguous)});
}

}  // namespace loopback
