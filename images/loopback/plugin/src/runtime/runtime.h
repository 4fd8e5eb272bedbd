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

  // In a forked child: it has our memory but not our threads, so nothing may be
  // joined or destroyed there, only left.
  bool Forked() const;

  std::size_t DeviceCount() const { return devices_.size(); }
  // Throws std::out_of_range for an id that is no device.
  Device& DeviceAt(int id);
  Stats& stats() { return stats_; }

  void ResetStats();
  std::string Json() const;

 private:
  const pid_t owner_;
  Stats stats_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace loopback
