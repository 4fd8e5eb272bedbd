#include "kernels/strided.h"

#include <cstdint>

#include "kernels/refuse.h"

namespace loopback {
namespace {

struct Wide {
  std::uint64_t half[2];
};

// One dimension of a copy.
struct Axis {
  std::int64_t size;
  std::int64_t from;  // stride of the source
  std::int64_t to;    // stride of the target
};

// Drops dimensions of one element and joins neighbours that are one run in both
// layouts, so that the inner loop is as long as it can be.
std::vector<Axis> Simplify(const Extents& dims, const Extents& from, const Extents& to) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    const Axis axis{dims[i], from[i], to[i]};
    if (!axes.empty() && axes.back().from == axis.from * axis.size &&
        axes.back().to == axis.to * axis.size) {
      axes.back() = {axes.back().size * axis.size, axis.from, axis.to};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

template <typename T>
void CopyAxes(const Axis* axis, const Axis* end, const T* from, T* to) {
  if (axis == end) {
    *to = *from;
  } else if (axis + 1 == end) {
    for (std::int64_t i = 0; i < axis->size; ++i) to[i * axis->to] = from[i * axis->from];
  } else {
    for (std::int64_t i = 0; i < axis->size; ++i) {
      CopyAxes(axis + 1, end, from + i * axis->from, to + i * axis->to);
    }
  }
}

template <typename T>
void CopyAll(const std::vector<Axis>& axes, const void* from, void* to) {
  CopyAxes(axes.data(), axes.data() + axes.size(), static_cast<const T*>(from), static_cast<T*>(to));
}

}  // namespace

void CopyElements(std::size_t size, const Layout& from_layout, const void* from,
                  const Extents& to_strides, void* to) {
  if (ElementCount(from_layout.dims) == 0) return;
  const std::vector<Axis> axes = Simplify(from_layout.dims, from_layout.strides, to_strides);
  switch (size) {
    case 1: return CopyAll<std::uint8_t>(axes, from, to);
    case 2: return CopyAll<std::uint16_t>(axes, from, to);
    case 4: return CopyAll<std::uint32_t>(axes, from, to);
    case 8: return CopyAll<std::uint64_t>(axes, from, to);
    case 16: return CopyAll<Wide>(axes, from, to);
    default: Refuse("no element has this size");
  }
}

void FillElements(std::size_t size, const void* value, const Layout& to_layout, void* to) {
  const Extents same(to_layout.dims.size(), 0);  // the one value, again and again
  CopyElements(size, {to_layout.dims, same}, value, to_layout.strides, to);
}

}  // namespace loopback
