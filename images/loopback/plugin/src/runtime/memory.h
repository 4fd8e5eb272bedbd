// The memory of one device: blocks of host memory under a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace loopback {

class DeviceMemory {
 public:
  // A limit in bytes. `fail_allocation` is the number of the allocation that
  // fails on purpose, counted from 1; 0 for none.
  DeviceMemory(std::size_t limit, std::size_t fail_allocation)
      : limit_(limit), fail_allocation_(fail_allocation) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // A block of at least `size` bytes, aligned for every vector unit, or null
  // when the limit (or the machine) has no room for it. Throws std::runtime_error
  // when it is the one that fails on purpose.
  void* Allocate(std::size_t size);

  // Gives a block back. False when this device does not own `block`.
  bool Free(void* block);

  std::size_t Limit() const { return limit_; }
  std::size_t InUse() const;
  void ResetStats();
  std::string Json() const;

 private:
  const std::size_t limit_;
  const std::size_t fail_allocation_;
  mutable std::mutex mutex_;  // guards all below
  std::unordered_map<void*, std::size_t> blocks_;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
  std::uint64_t attempts_ = 0;  // never reset: LOOPBACK_FAULT counts with it
  std::uint64_t allocations_ = 0;
  std::uint64_t failures_ = 0;
};

}  // namespace loopback
