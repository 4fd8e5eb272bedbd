#include "runtime/runtime.h"

#include <unistd.h>

#include <stdexcept>

namespace loopback {
namespace {

std::unique_ptr<Runtime>& Instance() {
  static std::unique_ptr<Runtime> instance;
  return instance;
}

}  // namespace

void Runtime::Start(const Settings& settings) { Instance() = std::make_unique<Runtime>(settings); }

void Runtime::Stop() {
  std::unique_ptr<Runtime>& instance = Instance();
  if (instance != nullptr && instance->owner_ != getpid()) {
    for (const auto& device : instance->devices_) device->AbandonWorkers();
  }
  instance.reset();
}

Runtime& Runtime::Get() {
  if (Instance() == nullptr) throw std::logic_error("the device runtime is not running");
  return *Instance();
}

Runtime::Runtime(const Settings& settings) : owner_(getpid()) {
  for (std::size_t id = 0; id < settings.devices; ++id) {
    devices_.push_back(std::make_unique<Device>(settings));
  }
}

void Runtime::ResetStats() {
  stats_.Reset();
  for (const auto& device : devices_) device->memory().ResetStats();
}

std::string Runtime::Json() const {
  std::string json = "{" + stats_.JsonMembers() + ", \"devices\": [";
  const char* separator = "";
  for (const auto& device : devices_) {
    json += separator + device->memory().Json();
    separator = ", ";
  }
  return json + "]}";
}

}  // namespace loopback
