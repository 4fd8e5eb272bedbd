#include "runtime/memory.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace loopback {
namespace {

constexpr std::size_t kAlignment = 256;

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [block, size] : blocks_) std::free(block);
}

void* DeviceMemory::Allocate(std::size_t size) {
  std::lock_guard lock(mutex_);
  if (++attempts_ == fail_allocation_) {
    ++failures_;
    throw std::runtime_error("LOOPBACK_FAULT: allocation " + std::to_string(attempts_) + " fails");
  }
  void* block = nullptr;
  const bool full = size > limit_ - in_use_;
  if (full || posix_memalign(&block, kAlignment, std::max<std::size_t>(size, 1)) != 0) {
    ++failures_;
    return nullptr;
  }
  blocks_.emplace(block, size);
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  ++allocations_;
  return block;
}

bool DeviceMemory::Free(void* block) {
  if (block == nullptr) return true;
  std::lock_guard lock(mutex_);
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return false;
  in_use_ -= found->second;
  blocks_.erase(found);
  std::free(block);
  return true;
}

std::size_t DeviceMemory::InUse() const {
  std::lock_guard lock(mutex_);
  return in_use_;
}

void DeviceMemory::ResetStats() {
  std::lock_guard lock(mutex_);
  peak_ = in_use_;
  allocations_ = failures_ = 0;
}

std::string DeviceMemory::Json() const {
  std::lock_guard lock(mutex_);
  return "{\"limit_bytes\": " + std::to_string(limit_) + ", \"bytes_in_use\": " +
         std::to_string(in_use_) + ", \"peak_bytes\": " + std::to_string(peak_) +
         ", \"allocations\": " + std::to_string(allocations_) +
         ", \"failed_allocations\": " + std::to_string(failures_) + "}";
}

}  // namespace loopback
