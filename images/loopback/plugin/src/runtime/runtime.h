// The devices of this process and what they count. It exists from Paddle's
// call of `initialize` to its call of `finalize`.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/settings.h"
#include "runtime/stats.h"

namespace loopback {

class Runtime {
 public:
  static void Start(const Settings& settings);
  static void Stop();
  // The running instance. Throws std::logic_error before Start and after Stop.
  static Runtime& Get();

  explicit Runtime(const Settings& settings);

  std::size_t DeviceCount() const { return devices_.size(); }
  // Throws std::out_of_range for an id that is no device.
  Device& DeviceAt(int id) { return *devices_.at(static_cast<std::size_t>(id)); }
  Stats& stats() { return stats_; }

  void ResetStats();
  std::string Json() const;

 private:
  const pid_t owner_;  // a forked child has our memory, not our threads
  Stats stats_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace loopback
