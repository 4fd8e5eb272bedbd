// The operator fused_rotary_embedding_loopback for Paddle.
#include "native.h"
#include "rotary.h"
#include "types.h"

namespace loopback {
namespace {

constexpr const char* kRotary = "fused_rotary_embedding_loopback";
constexpr const char* kRotaryGrad = "fused_rotary_embedding_loopback_grad";

using Shape = std::vector<std::int64_t>;

void CheckTable(const char* name, const paddle::Tensor& table, const paddle::Tensor& q) {
  const std::int64_t seq = q.shape()[1];
  const std::int64_t dim = q.shape()[3];
  PD_CHECK((table.shape() == Shape{seq, dim} || table.shape() == Shape{1, seq, 1, dim}), kRotary, ": ",
           name, " must be [seq, dim] or [1, seq, 1, dim] with seq ", seq, " and dim ", dim);
  PD_CHECK(table.dtype() == q.dtype() || table.dtype() == paddle::DataType::FLOAT32, kRotary, ": ", name,
           " must be float32 or, like q, ", q.dtype(), "; got ", table.dtype());
}

void Check(const paddle::Tensor& q, const paddle::Tensor& k, const paddle::Tensor& cos,
           const paddle::Tensor& sin) {
  PD_CHECK(q.shape().size() == 4 && k.shape().size() == 4, kRotary,
           ": q and k must be [batch, seq, heads, dim]");
  PD_CHECK(q.shape()[0] == k.shape()[0] && q.shape()[1] == k.shape()[1] &&
               q.shape()[3] == k.shape()[3],
           kRotary, ": q and k may differ in the number of heads only");
  PD_CHECK(q.shape()[3] > 0 && q.shape()[3] % 2 == 0, kRotary, ": dim must be even, got ", q.shape()[3]);
  PD_CHECK(k.dtype() == q.dtype(), kRotary, ": q is ", q.dtype(), " but k is ", k.dtype());
  CheckTable("cos", cos, q);
  CheckTable("sin", sin, q);
}

template <typename From, typename To>
std::vector<To> Converted(const paddle::Tensor& table) {
  const From* data = table.data<From>();
  std::vector<To> values(table.numel());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<To>(data[i]);
  return values;
}

template <typename T>
std::vector<Accumulator<T>> ReadTable(const paddle::Tensor& table) {
  if (table.dtype() == paddle::DataType::FLOAT32) return Converted<float, Accumulator<T>>(table);
  return Converted<T, Accumulator<T>>(table);
}

template <typename T>
using Rotation = void (*)(const RotaryShape&, const T*, const Accumulator<T>*,
                          const Accumulator<T>*, T*);

template <typename T>
void RotateOne(Rotation<T> rotation, const paddle::Tensor& x, const paddle::Tensor& cos,
               const paddle::Tensor& sin, paddle::Tensor* y) {
  const Shape shape = x.shape();
  const auto cos_table = ReadTable<T>(cos);
  const auto sin_table = ReadTable<T>(sin);
  rotation({shape[0], shape[1], shape[2], shape[3]}, x.data<T>(), cos_table.data(),
           sin_table.data(), y->data<T>());
}

// q and k rotated, or, for gradients, rotated back.
std::vector<paddle::Tensor> Apply(const char* op, bool back, const paddle::Tensor& q,
                                  const paddle::Tensor& k, const paddle::Tensor& cos,
                                  const paddle::Tensor& sin) {
  EnterOp(op, {&q, &k, &cos, &sin});
  std::vector<paddle::Tensor> results;
  for (const paddle::Tensor* x : {&q, &k}) {
    paddle::Tensor y = NewTensor(x->shape(), x->dtype(), *x);
    if (x->numel() > 0) {
      DispatchFloat(op, x->dtype(), [&](auto tag) {
        using T = typename decltype(tag)::Type;
        RotateOne<T>(back ? RotateBack<T> : Rotate<T>, *x, cos, sin, &y);
      });
    }
    results.push_back(y);
  }
  return results;
}

std::vector<paddle::Tensor> RotaryForward(const paddle::Tensor& q, const paddle::Tensor& k,
                                    const paddle::Tensor& cos, const paddle::Tensor& sin) {
  Check(q, k, cos, sin);
  return Apply(kRotary, false, q, k, cos, sin);
}

std::vector<paddle::Tensor> RotaryBackward(const paddle::Tensor& cos, const paddle::Tensor& sin,
                                     const paddle::Tensor& dq, const paddle::Tensor& dk) {
  return Apply(kRotaryGrad, true, dq, dk, cos, sin);
}

std::vector<Shape> RotaryShapes(const Shape& q, const Shape& k, const Shape&, const Shape&) {
  return {q, k};
}

std::vector<paddle::DataType> RotaryTypes(const paddle::DataType& q, const paddle::DataType& k,
                                        const paddle::DataType&, const paddle::DataType&) {
  return {q, k};
}

}  // namespace
}  // namespace loopback

PD_BUILD_OP(fused_rotary_embedding_loopback)
    .Inputs({"Q", "K", "Cos", "Sin"})
    .Outputs({"OutQ", "OutK"})
    .SetKernelFn(PD_KERNEL(loopback::RotaryForward))
    .SetInferShapeFn(PD_INFER_SHAPE(loopback::RotaryShapes))
    .SetInferDtypeFn(PD_INFER_DTYPE(loopback::RotaryTypes));

PD_BUILD_GRAD_OP(fused_rotary_embedding_loopback)
    .Inputs({"Cos", "Sin", paddle::Grad("OutQ"), paddle::Grad("OutK")})
    .Outputs({paddle::Grad("Q"), paddle::Grad("K")})
    .SetKernelFn(PD_KERNEL(loopback::RotaryBackward));
