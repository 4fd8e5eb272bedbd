// Start and end, and which device the calling thread works on.
#include "api/api.h"
#include "api/guard.h"
#include "runtime/runtime.h"

namespace loopback {
namespace {

Settings g_settings;
thread_local int t_current_device = 0;

C_Status Initialize() {
  return Guard([] {
    Runtime::Start(g_settings);
    return C_SUCCESS;
  });
}

C_Status Finalize() {
  return Guard([] {
    Runtime::Stop();
    return C_SUCCESS;
  });
}

C_Status CheckDevice(const C_Device device) {
  return Guard([&] {
    Runtime::Get().DeviceAt(device->id);
    return C_SUCCESS;
  });
}

C_Status SetDevice(const C_Device device) {
  const C_Status status = CheckDevice(device);
  if (status == C_SUCCESS) t_current_device = device->id;
  return status;
}

C_Status GetDevice(const C_Device device) {
  device->id = t_current_device;
  return C_SUCCESS;
}

C_Status SynchronizeDevice(const C_Device device) {
  return Guard([&] {
    Runtime::Get().DeviceAt(device->id).Synchronize();
    return C_SUCCESS;
  });
}

C_Status GetDeviceCount(std::size_t* count) {
  return Guard([&] {
    *count = Runtime::Get().DeviceCount();
    return C_SUCCESS;
  });
}

C_Status GetDeviceList(std::size_t* ids) {
  return Guard([&] {
    for (std::size_t id = 0; id < Runtime::Get().DeviceCount(); ++id) ids[id] = id;
    return C_SUCCESS;
  });
}

}  // namespace

void FillDeviceApi(C_DeviceInterface* table, const Settings& settings) {
  g_settings = settings;
  table->initialize = Initialize;
  table->finalize = Finalize;
  table->init_device = CheckDevice;
  table->deinit_device = SynchronizeDevice;
  table->set_device = SetDevice;
  table->get_device = GetDevice;
  table->synchronize_device = SynchronizeDevice;
  table->get_device_count = GetDeviceCount;
  table->get_device_list = GetDeviceList;
}

}  // namespace loopback
