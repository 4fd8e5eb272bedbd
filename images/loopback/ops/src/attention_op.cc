// The operator fused_sdp_flash_attention_loopback for Paddle.
#include <cmath>

#include "attention.h"
#include "native.h"

namespace loopback {
namespace {

constexpr const char* kAttention = "fused_sdp_flash_attention_loopback";
constexpr const char* kAttentionGrad = "fused_sdp_flash_attention_loopback_grad";

using Shape = std::vector<std::int64_t>;

void CheckAttention(const paddle::Tensor& q, const paddle::Tensor& k, const paddle::Tensor& v,
                    double scale) {
  PD_CHECK(q.shape().size() == 4 && k.shape().size() == 4, kAttention,
           ": q, k and v must be [batch, seq, heads, dim]");
  PD_CHECK(k.shape() == v.shape(), kAttention, ": k and v must have the same shape");
  PD_CHECK(q.shape()[0] == k.shape()[0] && q.shape()[3] == k.shape()[3] && q.shape()[3] > 0, kAttention,
           ": q and k must have the same batch and dim, got ", q.shape()[0], " and ", k.shape()[0],
           ", ", q.shape()[3], " and ", k.shape()[3]);
  PD_CHECK(k.shape()[2] > 0 && q.shape()[2] % k.shape()[2] == 0, kAttention,
           ": the heads of q must be a multiple of those of k, got ", q.shape()[2], " and ",
           k.shape()[2]);
  PD_CHECK(k.dtype() == q.dtype() && v.dtype() == q.dtype(), kAttention, ": q is ", q.dtype(),
           " but k and v are ", k.dtype(), " and ", v.dtype());
  PD_CHECK(std::isfinite(scale), kAttention, ": scale must be finite, got ", scale);
}

AttentionShape ShapeOf(const paddle::Tensor& q, const paddle::Tensor& k, bool causal, double scale) {
  const Shape a = q.shape();
  const Shape b = k.shape();
  return {a[0], a[1], b[1], a[2], b[2], a[3], causal, scale};
}

paddle::DataType AccumulatorType(paddle::DataType dtype) {
  const bool wide = dtype == paddle::DataType::FLOAT64;
  return wide ? paddle::DataType::FLOAT64 : paddle::DataType::FLOAT32;
}

// The result, and for the gradient the logarithm of each row's sum, [batch, heads, seq_q].
std::vector<paddle::Tensor> AttentionForwardOp(const paddle::Tensor& q, const paddle::Tensor& k,
                                               const paddle::Tensor& v, bool causal, double scale) {
  CheckAttention(q, k, v, scale);
  EnterOp(kAttention, {&q, &k, &v});
  const AttentionShape shape = ShapeOf(q, k, causal, scale);
  paddle::Tensor out = NewTensor(q.shape(), q.dtype(), q);
  paddle::Tensor lse =
      NewTensor({shape.batch, shape.heads, shape.seq_q}, AccumulatorType(q.dtype()), q);
  if (q.numel() == 0) return {out, lse};
  DispatchFloat(kAttention, q.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const bool keys = k.numel() > 0;  // an empty tensor may have no data to point to
    AttentionForward(shape, q.data<T>(), keys ? k.data<T>() : nullptr,
                     keys ? v.data<T>() : nullptr, out.data<T>(), lse.data<Accumulator<T>>());
  });
  return {out, lse};
}

std::vector<paddle::Tensor> AttentionBackwardOp(const paddle::Tensor& q, const paddle::Tensor& k,
                                                const paddle::Tensor& v, const paddle::Tensor& out,
                                                const paddle::Tensor& lse,
                                                const paddle::Tensor& dout, bool causal,
                                                double scale) {
  EnterOp(kAttentionGrad, {&q, &k, &v, &out, &lse, &dout});
  if (q.numel() == 0 || k.numel() == 0) {
    return {paddle::full(q.shape(), 0, q.dtype(), q.place()),
            paddle::full(k.shape(), 0, k.dtype(), k.place()),
            paddle::full(v.shape(), 0, v.dtype(), v.place())};
  }
  paddle::Tensor dq = NewTensor(q.shape(), q.dtype(), q);
  paddle::Tensor dk = NewTensor(k.shape(), k.dtype(), k);
  paddle::Tensor dv = NewTensor(v.shape(), v.dtype(), v);
  DispatchFloat(kAttentionGrad, q.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const AttentionSaved<T> saved{q.data<T>(),   k.data<T>(), v.data<T>(),
                                  out.data<T>(), lse.data<Accumulator<T>>(), dout.data<T>()};
    AttentionBackward(ShapeOf(q, k, causal, scale), saved, dq.data<T>(), dk.data<T>(),
                      dv.data<T>());
  });
  return {dq, dk, dv};
}

std::vector<Shape> AttentionShapes(const Shape& q, const Shape&, const Shape&) {
  return {q, {q[0], q[2], q[1]}};
}

std::vector<paddle::DataType> AttentionTypes(const paddle::DataType& q, const paddle::DataType&,
                                             const paddle::DataType&) {
  return {q, AccumulatorType(q)};
}

}  // namespace
}  // namespace loopback

PD_BUILD_OP(fused_sdp_flash_attention_loopback)
    .Inputs({"Q", "K", "V"})
    .Outputs({"Out", "Lse"})
    .Attrs({"causal: bool", "scale: double"})
    .SetKernelFn(PD_KERNEL(loopback::AttentionForwardOp))
    .SetInferShapeFn(PD_INFER_SHAPE(loopback::AttentionShapes))
    .SetInferDtypeFn(PD_INFER_DTYPE(loopback::AttentionTypes));

PD_BUILD_GRAD_OP(fused_sdp_flash_attention_loopback)
    .Inputs({"Q", "K", "V", "Out", "Lse", paddle::Grad("Out")})
    .Outputs({paddle::Grad("Q"), paddle::Grad("K"), paddle::Grad("V")})
    .Attrs({"causal: bool", "scale: double"})
    .SetKernelFn(PD_KERNEL(loopback::AttentionBackwardOp));
