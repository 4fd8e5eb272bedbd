// The operator rms_norm_loopback for Paddle.
#include "native.h"
#include "rms_norm.h"
#include "types.h"

namespace loopback {
namespace {

constexpr const char* kRmsNorm = "rms_norm_loopback";
constexpr const char* kRmsNormGrad = "rms_norm_loopback_grad";

void Check(const paddle::Tensor& x, const paddle::Tensor& weight, double epsilon) {
  PD_CHECK(x.shape().size() >= 1 && x.shape().back() > 0, kRmsNorm,
           ": x must have a last dimension of at least one element");
  PD_CHECK(weight.shape() == std::vector<std::int64_t>{x.shape().back()}, kRmsNorm,
           ": weight must be one vector as long as the last dimension of x, ", x.shape().back());
  PD_CHECK(weight.dtype() == x.dtype(), kRmsNorm, ": x is ", x.dtype(), " but weight is ",
           weight.dtype());
  PD_CHECK(epsilon >= 0, kRmsNorm, ": epsilon must not be negative, got ", epsilon);
}

template <typename T>
RmsNormInput<T> Input(const paddle::Tensor& x, const paddle::Tensor& weight, double epsilon) {
  const std::int64_t width = x.shape().back();
  return {x.data<T>(), weight.data<T>(), x.numel() / width, width, epsilon};
}

std::vector<paddle::Tensor> RmsNormForwardOp(const paddle::Tensor& x, const paddle::Tensor& weight,
                                    double epsilon) {
  Check(x, weight, epsilon);
  EnterOp(kRmsNorm, {&x, &weight});
  paddle::Tensor y = NewTensor(x.shape(), x.dtype(), x);
  if (x.numel() == 0) return {y};
  DispatchFloat(kRmsNorm, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    RmsNormForward(Input<T>(x, weight, epsilon), y.data<T>());
  });
  return {y};
}

std::vector<paddle::Tensor> RmsNormBackwardOp(const paddle::Tensor& x, const paddle::Tensor& weight,
                                     const paddle::Tensor& dy, double epsilon) {
  EnterOp(kRmsNormGrad, {&x, &weight, &dy});
  paddle::Tensor dx = NewTensor(x.shape(), x.dtype(), x);
  if (x.numel() == 0) return {dx, paddle::full(weight.shape(), 0, weight.dtype(), weight.place())};
  paddle::Tensor dweight = NewTensor(weight.shape(), weight.dtype(), x);
  DispatchFloat(kRmsNormGrad, x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    RmsNormBackward(Input<T>(x, weight, epsilon), dy.data<T>(), dx.data<T>(), dweight.data<T>());
  });
  return {dx, dweight};
}

std::vector<std::vector<std::int64_t>> RmsNormShapes(const std::vector<std::int64_t>& x,
                                                  const std::vector<std::int64_t>&) {
  return {x};
}

std::vector<paddle::DataType> RmsNormTypes(const paddle::DataType& x, const paddle::DataType&) {
  return {x};
}

}  // namespace
}  // namespace loopback

PD_BUILD_OP(rms_norm_loopback)
    .Inputs({"X", "Weight"})
    .Outputs({"Out"})
    .Attrs({"epsilon: double"})
    .SetKernelFn(PD_KERNEL(loopback::RmsNormForwardOp))
    .SetInferShapeFn(PD_INFER_SHAPE(loopback::RmsNormShapes))
    .SetInferDtypeFn(PD_INFER_DTYPE(loopback::RmsNormTypes));

PD_BUILD_GRAD_OP(rms_norm_loopback)
    .Inputs({"X", "Weight", paddle::Grad("Out")})
    .Outputs({paddle::Grad("X"), paddle::Grad("Weight")})
    .Attrs({"epsilon: double"})
    .SetKernelFn(PD_KERNEL(loopback::RmsNormBackwardOp));
