// Rotary position embedding, "half" rotation: element i of a head is turned
// together with element i + dim/2. Pure; instantiated for every type of types.h.
#pragma once

#include <cstdint>

#include "types.h"

namespace loopback {

struct RotaryShape {
  std::int64_t batch;
  std::int64_t seq;
  std::int64_t heads;
  std::int64_t dim;  // even
};

// `x` and `y` are [batch, seq, heads, dim]; `cos` and `sin` are [seq, dim].
template <typename T>
void Rotate(const RotaryShape& shape, const T* x, const Accumulator<T>* cos,
            const Accumulator<T>* sin, T* y);

// The gradient of x for `dy`, the gradient of y: the transposed rotation.
template <typename T>
void RotateBack(const RotaryShape& shape, const T* dy, const Accumulator<T>* cos,
                const Accumulator<T>* sin, T* dx);

}  // namespace loopback
