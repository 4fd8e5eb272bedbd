#include "runtime/device.h"

#include <utility>
#include <vector>

namespace loopback {

Device::Device(const Settings& settings)
    : settings_(settings),
      memory_(settings.memory_bytes, settings.fail_allocation),
      default_stream_(settings.hang_streams, settings.stream_delay) {}

Stream* Device::CreateStream() {
  auto stream = std::make_unique<Stream>(settings_.hang_streams, settings_.stream_delay);
  Stream* handle = stream.get();
  std::lock_guard lock(mutex_);
  streams_.emplace(handle, std::move(stream));
  return handle;
}

bool Device::DestroyStream(Stream* stream) {
  std::unique_ptr<Stream> doomed;  // joined after the lock is gone: that may take long
  std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return false;
  doomed = std::move(found->second);
  streams_.erase(found);
  return true;
}

void Device::Synchronize() {
  std::vector<Point> points{default_stream_.Here()};
  {
    std::lock_guard lock(mutex_);
    for (const auto& [handle, stream] : streams_) points.push_back(stream->Here());
  }
  for (const Point& point : points) point.Wait();
}

}  // namespace loopback
