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
  if (Instance() != nullptr && Instance()->Forked()) static_cast<void>(Instance().release());
  Instance().reset();
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

Device& Runtime::DeviceAt(int id) {
  const auto index = static_cast<std::size_t>(id);
  if (index < devices_.size()) return *devices_[index];
  throw std::out_of_range("there is no device " + std::to_string(id));
}

bool Runtime::Forked() const { return owner_ != getpid(); }

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
