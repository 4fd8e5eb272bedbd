// Memory of a device: take, give back, ask.
#include <cstring>

#include "api/api.h"
#include "api/device.h"
#include "api/guard.h"
#include "runtime/runtime.h"

namespace loopback {
namespace {

// Paddle cuts its blocks of device memory at multiples of this many bytes.
constexpr std::size_t kMinChunk = 256;

// Out of memory is a success with a null pointer: so Paddle frees what it caches,
// tries again, and only then raises its own out-of-memory error.
C_Status Allocate(const C_Device device, void** block, std::size_t size) {
  return Guard([&] {
    *block = DeviceOf(device).memory().Allocate(size);
    return C_SUCCESS;
  });
}

C_Status Deallocate(const C_Device device, void* block, std::size_t) {
  return Guard([&] {
    Device& owner = DeviceOf(device);
    owner.Synchronize();  // queued work may still use the block
    return owner.memory().Free(block) ? C_SUCCESS : C_ERROR;
  });
}

C_Status Set(const C_Device device, void* block, unsigned char value, std::size_t size) {
  return Guard([&] {
    Device& owner = DeviceOf(device);
    owner.Synchronize();
    owner.Resolve(nullptr).Run([=] { std::memset(block, value, size); });
    return C_SUCCESS;
  });
}

C_Status Statistics(const C_Device device, std::size_t* total, std::size_t* free) {
  return Guard([&] {
    const DeviceMemory& memory = DeviceOf(device).memory();
    *total = memory.Limit();
    *free = memory.Limit() - memory.InUse();
    return C_SUCCESS;
  });
}

C_Status MinChunkSize(const C_Device, std::size_t* bytes) {
  *bytes = kMinChunk;
  return C_SUCCESS;
}

}  // namespace

void FillMemoryApi(C_DeviceInterface* table) {
  table->device_memory_allocate = Allocate;
  table->device_memory_deallocate = Deallocate;
  table->device_memory_set = Set;
  table->device_memory_stats = Statistics;
  table->device_min_chunk_size = MinChunkSize;
}

}  // namespace loopback
