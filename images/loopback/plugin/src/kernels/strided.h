// Moving elements between memory layouts. Pure: no tensor, no device.
#pragma once

#include <cstddef>

#include "kernels/tensor.h"

namespace loopback {

// The elements of one array of sizes `dims`, found by `strides` (in elements,
// any sign, 0 repeats) from its first element.
struct Layout {
  Extents dims;
  Extents strides;
};

// Copies every element of `from` to the same place in `to`. Both have the same
// sizes; `size` is that of an element in bytes: 1, 2, 4, 8 or 16.
void CopyElements(std::size_t size, const Layout& from_layout, const void* from,
                  const Extents& to_strides, void* to);

// Writes `value`, one element of `size` bytes, to every element of `to`.
void FillElements(std::size_t size, const void* value, const Layout& to_layout, void* to);

}  // namespace loopback
