// One device: its memory and its streams.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "runtime/memory.h"
#include "runtime/settings.h"
#include "runtime/stream.h"

namespace loopback {

class Device {
 public:
  explicit Device(const Settings& settings);

  DeviceMemory& memory() { return memory_; }

  Stream* CreateStream();
  // Finishes the stream's work first. False when this device does not own it.
  bool DestroyStream(Stream* stream);
  // The stream behind a handle of Paddle; null means the default stream.
  Stream& Resolve(Stream* stream) { return stream == nullptr ? default_stream_ : *stream; }

  // Waits for all work accepted so far, on every stream.
  void Synchronize();

 private:
  const Settings settings_;
  DeviceMemory memory_;  // before the streams: their last tasks still use it
  Stream default_stream_;
  std::mutex mutex_;  // guards streams_
  std::unordered_map<Stream*, std::unique_ptr<Stream>> streams_;
};

}  // namespace loopback
