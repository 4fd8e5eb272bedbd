#include "native.h"

#include <map>
#include <mutex>
#include <string>

#include "paddle/phi/core/device_context.h"

namespace loopback {
namespace {

std::mutex g_mutex;  // guards Counts()

std::map<std::string, std::uint64_t>& Counts() {
  static std::map<std::string, std::uint64_t> counts;
  return counts;
}

bool IsSupported(const paddle::Place& place) {
  return place.GetType() == phi::AllocationType::CPU ||
         (place.GetType() == phi::AllocationType::CUSTOM && place.GetDeviceType() == "loopback");
}

// The place of the first tensor with elements. An empty one says "cpu" when a kernel of
// the CPU made it, although its device is another.
paddle::Place PlaceOf(std::initializer_list<const paddle::Tensor*> tensors) {
  for (const paddle::Tensor* tensor : tensors) {
    if (tensor->numel() > 0) return tensor->place();
  }
  return (*tensors.begin())->place();
}

}  // namespace

void EnterOp(const char* op, std::initializer_list<const paddle::Tensor*> tensors) {
  const paddle::Place place = PlaceOf(tensors);
  PD_CHECK(IsSupported(place), op, ": works on cpu and loopback, got a tensor on ",
           place.DebugString());
  for (const paddle::Tensor* tensor : tensors) {
    PD_CHECK(tensor->numel() == 0 || tensor->place() == place, op,
             ": all tensors must be on one device, got ", place.DebugString(), " and ",
             tensor->place().DebugString());
  }
  paddle::experimental::DeviceContextPool::Instance().Get(place)->Wait();
  std::lock_guard lock(g_mutex);
  ++Counts()[op];
}

paddle::Tensor NewTensor(const std::vector<std::int64_t>& shape, paddle::DataType dtype,
                         const paddle::Tensor& like) {
  return paddle::empty(shape, dtype, like.place());
}

}  // namespace loopback

// JSON text, valid until this thread's next call.
extern "C" __attribute__((visibility("default"))) const char* loopback_ops_counts() {
  static thread_local std::string text;
  std::lock_guard lock(loopback::g_mutex);
  text = "{";
  for (const auto& [name, count] : loopback::Counts()) {
    text += (text.size() > 1 ? ", \"" : "\"") + name + "\": " + std::to_string(count);
  }
  text += "}";
  return text.c_str();
}
