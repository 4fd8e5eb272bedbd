// The functions that Paddle's core calls, by group. Each of these fills its
// part of the table.
#pragma once

#include "paddle/phi/backends/device_ext.h"
#include "runtime/settings.h"

namespace loopback {

// `settings` is what `initialize` starts the devices with.
void FillDeviceApi(C_DeviceInterface* table, const Settings& settings);
void FillStreamApi(C_DeviceInterface* table);
void FillMemoryApi(C_DeviceInterface* table);
void FillCopyApi(C_DeviceInterface* table);

}  // namespace loopback
