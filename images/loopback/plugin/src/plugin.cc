// The plugin's entry point for Paddle, and the exports for its Python package.
#include <cstdio>
#include <exception>
#include <string>

#include "api/api.h"
#include "kernels/kernels.h"
#include "paddle/phi/backends/device_ext.h"
#include "runtime/runtime.h"

namespace {

// The table grows with every minor release of Paddle and its size is the only
// thing that tells them apart. Filling a table of another size hangs or crashes
// the process, so a plugin built for another release must decline.
bool FitsRunningCore(const CustomRuntimeParams& params) {
  const std::size_t running = params.interface->size;
  if (params.size == sizeof(CustomRuntimeParams) && running == sizeof(C_DeviceInterface)) return true;
  std::fprintf(stderr,
               "loopback: declined: built for paddlepaddle %s (interface of %zu bytes), "
               "but the running one has an interface of %zu bytes; rebuild the plugin for it\n",
               LOOPBACK_PADDLE_VERSION, sizeof(C_DeviceInterface), running);
  return false;
}

}  // namespace

// Leaving `device_type` null is how a plugin declines: Paddle then skips it.
extern "C" __attribute__((visibility("default"))) void InitPlugin(CustomRuntimeParams* params) {
  if (!FitsRunningCore(*params)) return;
  try {
    const loopback::Settings settings = loopback::ReadSettings();
    PADDLE_CUSTOM_RUNTIME_CHECK_VERSION(params);
    loopback::FillDeviceApi(params->interface, settings);
    loopback::FillStreamApi(params->interface);
    loopback::FillMemoryApi(params->interface);
    loopback::FillCopyApi(params->interface);
    loopback::RegisterKernels();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "loopback: declined: %s\n", failure.what());
    return;
  }
  static char type[] = LOOPBACK_DEVICE_TYPE;
  static char sub_type[] = "v0.1";
  params->device_type = type;
  params->sub_device_type = sub_type;
}

// The device type that this library serves in host memory. By it a stand-in is told from the plugin
// of a card, whatever the files are called.
extern "C" __attribute__((visibility("default"))) const char* loopback_device_type() {
  return LOOPBACK_DEVICE_TYPE;
}

// JSON text, valid until this thread's next call; null when no device runs.
extern "C" __attribute__((visibility("default"))) const char* loopback_stats() {
  static thread_local std::string text;
  try {
    text = loopback::Runtime::Get().Json();
    return text.c_str();
  } catch (const std::exception&) {
    return nullptr;
  }
}

extern "C" __attribute__((visibility("default"))) bool loopback_reset_stats() {
  try {
    loopback::Runtime::Get().ResetStats();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}
