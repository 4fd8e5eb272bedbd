// Which of our devices Paddle means.
#pragma once

#include "paddle/phi/backends/device_ext.h"
#include "runtime/runtime.h"

namespace loopback {

inline Device& DeviceOf(const C_Device device) { return Runtime::Get().DeviceAt(device->id); }

}  // namespace loopback
