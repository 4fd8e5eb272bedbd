// strided_copy: writes a tensor into another one of the same sizes and any layout.
#include "kernels/kernel.h"
#include "kernels/kernels.h"
#include "kernels/refuse.h"
#include "kernels/strided.h"

namespace loopback {
namespace {

// `offset` is where `out` starts in its memory, in bytes. The memory exists already.
void StridedCopy(const PD_DeviceContext* context, const PD_Tensor* x, const Extents* dims,
                 const Extents* strides, std::int64_t offset, PD_Tensor* out) {
  const Layout layout{Dims(x), Strides(x)};
  if (layout.dims != *dims) Refuse("strided_copy: the sizes differ");
  SetLayout(out, *dims, *strides);
  PD_TensorSetOffset(out, offset, nullptr);
  if (ElementCount(layout.dims) == 0) return;
  const std::size_t size = ElementSize(PD_TensorGetPDDataType(x, nullptr));
  Launch(context, "strided_copy", [=, to_strides = *strides, from = Data(x), to = Data(out)] {
    CopyElements(size, layout, from, to_strides, to);
  });
}

Extents ListAt(PD_KernelContext* context, std::size_t index) {
  const PD_List list = PD_KernelContextListInt64AttrAt(context, index);
  const auto* first = static_cast<const std::int64_t*>(list.data);
  return Extents(first, first + list.size);
}

void RunStridedCopy(PD_KernelContext* context) {
  const Extents dims = ListAt(context, 0);
  const Extents strides = ListAt(context, 1);
  StridedCopy(PD_KernelContextGetDeviceContext(context), PD_KernelContextInputAt(context, 0), &dims,
              &strides, PD_KernelContextInt64AttrAt(context, 2),
              PD_KernelContextOutputAt(context, 0));
}

}  // namespace

void RegisterStridedCopy() {
  Register({"strided_copy",
            AllTypes(),
            {PD_ARG_TYPE_TENSOR},
            {PD_ARG_TYPE_LIST_INT64, PD_ARG_TYPE_LIST_INT64, PD_ARG_TYPE_INT64},
            {PD_ARG_TYPE_TENSOR},
            RunStridedCopy,
            reinterpret_cast<void*>(StridedCopy)});
}

}  // namespace loopback
