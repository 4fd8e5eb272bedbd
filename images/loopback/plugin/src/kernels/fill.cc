// fill: sets every element of a tensor to one value.
#include <cmath>
#include <cstring>

#include "kernels/kernel.h"
#include "kernels/kernels.h"
#include "kernels/strided.h"
#include "paddle/phi/common/scalar.h"

namespace loopback {
namespace {

// One element of any type, as bytes.
struct Element {
  alignas(16) unsigned char bytes[16] = {};
};

template <typename T>
Element As(const phi::Scalar& value) {
  const T converted = value.to<T>();
  Element element;
  std::memcpy(element.bytes, &converted, sizeof(T));
  return element;
}

// Paddle's own conversion to float16 shifts by more bits than there are for zero and for
// what is too small: those are decided here.
template <>
Element As<phi::float16>(const phi::Scalar& value) {
  const float wide = value.to<float>();
  const bool vanishes = std::fabs(wide) <= 0x1p-25F;  // half of the smallest, or less
  const std::uint16_t zero = std::signbit(wide) ? 0x8000 : 0;
  const std::uint16_t bits = vanishes ? zero : phi::float16(wide).x;
  Element element;
  std::memcpy(element.bytes, &bits, sizeof bits);
  return element;
}

Element Convert(const phi::Scalar& value, PD_DataType dtype) {
  switch (dtype) {
    case BOOL: return As<bool>(value);
    case UINT8: return As<std::uint8_t>(value);
    case INT8: return As<std::int8_t>(value);
    case INT16: return As<std::int16_t>(value);
    case INT32: return As<std::int32_t>(value);
    case INT64: return As<std::int64_t>(value);
    case FLOAT16: return As<phi::float16>(value);
    case BFLOAT16: return As<phi::bfloat16>(value);
    case FLOAT32: return As<float>(value);
    case FLOAT64: return As<double>(value);
    case COMPLEX64: return As<phi::complex64>(value);
    default: return As<phi::complex128>(value);
  }
}

void Fill(const PD_DeviceContext* context, const PD_Tensor* x, const phi::Scalar* value,
          PD_Tensor* out) {
  const PD_DataType dtype = PD_TensorGetPDDataType(x, nullptr);
  const Element element = Convert(*value, dtype);
  // In place, `out` is `x`, maybe a view: it keeps its layout. Otherwise it is new.
  const bool in_place = PD_TensorIsInitialized(out, nullptr);
  if (!in_place) AllocateDense(context, out, dtype);
  const Layout layout{Dims(out), Strides(out)};
  if (ElementCount(layout.dims) == 0) return;
  Launch(context, "fill", [=, to = Data(out)] {
    FillElements(ElementSize(dtype), element.bytes, layout, to);
  });
}

void RunFill(PD_KernelContext* context) {
  Fill(PD_KernelContextGetDeviceContext(context), PD_KernelContextInputAt(context, 0),
       reinterpret_cast<const phi::Scalar*>(PD_KernelContextScalarAttrAt(context, 0)),
       PD_KernelContextOutputAt(context, 0));
}

}  // namespace

void RegisterFill() {
  Register({"fill",
            AllTypes(),
            {PD_ARG_TYPE_TENSOR},
            {PD_ARG_TYPE_SCALAR},
            {PD_ARG_TYPE_TENSOR},
            RunFill,
            reinterpret_cast<void*>(Fill)});
}

}  // namespace loopback
