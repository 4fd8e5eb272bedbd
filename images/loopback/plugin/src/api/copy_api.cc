// Copies between the host and devices.
//
// A copy without a stream first waits for all work on the devices it touches, then
// uses the default stream. A copy on a stream keeps that stream's order. Host memory is ordinary, pageable
// memory that its owner may reuse when the call returns, so a copy from or to it
// is over (or, when small, staged) by then; between devices nothing waits.
#include <cstring>
#include <utility>
#include <vector>

#include "api/api.h"
#include "api/device.h"
#include "api/guard.h"
#include "runtime/runtime.h"

namespace loopback {
namespace {

constexpr std::size_t kMaxStagedBytes = 64 * 1024;

// memcpy, but zero bytes may come with null pointers.
void Copy(void* to, const void* from, std::size_t size) {
  if (size > 0) std::memcpy(to, from, size);
}

C_Status CopyNow(CopyKind kind, const C_Device a, const C_Device b, void* to, const void* from,
                 std::size_t size) {
  return Guard([&] {
    DeviceOf(a).Synchronize();
    if (b->id != a->id) DeviceOf(b).Synchronize();
    DeviceOf(a).Resolve(nullptr).Run([=] { Copy(to, from, size); });
    Runtime::Get().stats().CountCopy(kind, size);
    return C_SUCCESS;
  });
}

C_Status HostToDevice(const C_Device device, void* to, const void* from, std::size_t size) {
  return CopyNow(CopyKind::kHostToDevice, device, device, to, from, size);
}

C_Status DeviceToHost(const C_Device device, void* to, const void* from, std::size_t size) {
  return CopyNow(CopyKind::kDeviceToHost, device, device, to, from, size);
}

C_Status DeviceToDevice(const C_Device device, void* to, const void* from, std::size_t size) {
  return CopyNow(CopyKind::kDeviceToDevice, device, device, to, from, size);
}

C_Status PeerToPeer(const C_Device to_device, const C_Device from_device, void* to,
                    const void* from, std::size_t size) {
  return CopyNow(CopyKind::kDeviceToDevice, to_device, from_device, to, from, size);
}

Stream& StreamOf(const C_Device device, C_Stream stream) {
  return DeviceOf(device).Resolve(reinterpret_cast<Stream*>(stream));
}

C_Status HostToDeviceAsync(const C_Device device, C_Stream handle, void* to, const void* from,
                           std::size_t size) {
  return Guard([&] {
    Stream& stream = StreamOf(device, handle);
    if (size > kMaxStagedBytes || stream.Here().Reached()) {
      stream.Run([=] { Copy(to, from, size); });
    } else {
      const auto* bytes = static_cast<const char*>(from);
      std::vector<char> staged(bytes, bytes + size);
      stream.Enqueue([to, staged = std::move(staged)] { Copy(to, staged.data(), staged.size()); });
    }
    Runtime::Get().stats().CountCopy(CopyKind::kHostToDevice, size);
    return C_SUCCESS;
  });
}

C_Status DeviceToHostAsync(const C_Device device, C_Stream stream, void* to, const void* from,
                           std::size_t size) {
  return Guard([&] {
    StreamOf(device, stream).Run([=] { Copy(to, from, size); });
    Runtime::Get().stats().CountCopy(CopyKind::kDeviceToHost, size);
    return C_SUCCESS;
  });
}

C_Status DeviceToDeviceAsync(const C_Device device, C_Stream stream, void* to, const void* from,
                             std::size_t size) {
  return Guard([&] {
    StreamOf(device, stream).Enqueue([=] { Copy(to, from, size); });
    Runtime::Get().stats().CountCopy(CopyKind::kDeviceToDevice, size);
    return C_SUCCESS;
  });
}

C_Status PeerToPeerAsync(const C_Device, const C_Device from_device, C_Stream stream, void* to,
                         const void* from, std::size_t size) {
  return DeviceToDeviceAsync(from_device, stream, to, from, size);
}

}  // namespace

void FillCopyApi(C_DeviceInterface* table) {
  table->memory_copy_h2d = HostToDevice;
  table->memory_copy_d2h = DeviceToHost;
  table->memory_copy_d2d = DeviceToDevice;
  table->memory_copy_p2p = PeerToPeer;
  table->async_memory_copy_h2d = HostToDeviceAsync;
  table->async_memory_copy_d2h = DeviceToHostAsync;
  table->async_memory_copy_d2d = DeviceToDeviceAsync;
  table->async_memory_copy_p2p = PeerToPeerAsync;
}

}  // namespace loopback
