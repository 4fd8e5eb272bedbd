// What the plugin counts, so that a report can say what really ran on the device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace loopback {

enum class CopyKind { kHostToDevice, kDeviceToHost, kDeviceToDevice };

class Stats {
 public:
  void CountKernel(const char* name);
  void CountCopy(CopyKind kind, std::size_t bytes);
  void CountStream() { ++streams_; }
  void CountEvent() { ++events_; }

  // Zeroes every count. Memory in use is a state, not a count: the devices keep it.
  void Reset();

  // The members of a JSON object, without its braces.
  std::string JsonMembers() const;

 private:
  struct Copies {
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> bytes{0};
  };

  Copies copies_[3];
  std::atomic<std::uint64_t> streams_{0};
  std::atomic<std::uint64_t> events_{0};
  mutable std::mutex mutex_;  // guards kernels_
  std::map<std::string, std::uint64_t> kernels_;
};

}  // namespace loopback
