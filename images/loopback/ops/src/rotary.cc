#include "rotary.h"

#include "parallel.h"

namespace loopback {
namespace {

// Calls `turn(low, high, cos, sin, to)` for every pair: pointers to the two elements
// of a head that belong together, the tables at the low one, and the target.
template <typename T, typename Turn>
void ForEachPair(const RotaryShape& shape, const T* x, const Accumulator<T>* cos,
                 const Accumulator<T>* sin, T* y, const Turn& turn) {
  const std::int64_t half = shape.dim / 2;
  const std::int64_t rows = shape.batch * shape.seq * shape.heads;
  const double operations = 4.0 * static_cast<double>(rows) * static_cast<double>(shape.dim);
  ParallelFor(rows, operations, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * shape.dim;
      const std::int64_t table = row / shape.heads % shape.seq * shape.dim;
      for (std::int64_t i = 0; i < half; ++i) {
        turn(x + at + i, x + at + i + half, cos + table + i, sin + table + i, y + at + i);
      }
    }
  });
}

}  // namespace

template <typename T>
void Rotate(const RotaryShape& shape, const T* x, const Accumulator<T>* cos,
            const Accumulator<T>* sin, T* y) {
  using A = Accumulator<T>;
  const std::int64_t half = shape.dim / 2;
  ForEachPair(shape, x, cos, sin, y, [half](const T* low, const T* high, const A* c, const A* s, T* to) {
    const A a = static_cast<A>(*low);
    const A b = static_cast<A>(*high);
    to[0] = Narrow<T>(a * c[0] - b * s[0]);
    to[half] = Narrow<T>(b * c[half] + a * s[half]);
  });
}

template <typename T>
void RotateBack(const RotaryShape& shape, const T* dy, const Accumulator<T>* cos,
                const Accumulator<T>* sin, T* dx) {
  using A = Accumulator<T>;
  const std::int64_t half = shape.dim / 2;
  ForEachPair(shape, dy, cos, sin, dx, [half](const T* low, const T* high, const A* c, const A* s, T* to) {
    const A a = static_cast<A>(*low);
    const A b = static_cast<A>(*high);
    to[0] = Narrow<T>(a * c[0] + b * s[half]);
    to[half] = Narrow<T>(b * c[half] - a * s[0]);
  });
}

#define LOOPBACK_INSTANTIATE(T)                                                                   \
  template void Rotate(const RotaryShape&, const T*, const Accumulator<T>*, const Accumulator<T>*, \
                       T*);                                                                       \
  template void RotateBack(const RotaryShape&, const T*, const Accumulator<T>*,                    \
                           const Accumulator<T>*, T*);
LOOPBACK_FOR_EACH_TYPE(LOOPBACK_INSTANTIATE)
#undef LOOPBACK_INSTANTIATE

}  // namespace loopback
