// What the user may set by environment variables, read once and strictly.
//
//   LOOPBACK_DEVICES    number of devices, 1 to 64; default 1
//   LOOPBACK_MEMORY_MB  memory limit of each device in MiB; default: half of the
//                       machine's memory, shared by the devices
//   LOOPBACK_FAULT      a fault to rehearse; default none
//                         alloc:N        the N-th allocation on each device, counted
//                                        from 1, breaks; those before and after it work
//                         hang-stream    streams accept work and never do it
//                         slow-stream:MS each task on a stream first waits MS milliseconds
//
// They are read when Paddle loads the plugin. With a wrong value the plugin says so on
// stderr and declines, so Paddle runs without it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace loopback {

struct Settings {
  std::size_t devices = 1;
  std::size_t memory_bytes = 0;
  std::size_t fail_allocation = 0;  // 0: none fails
  bool hang_streams = false;
  std::chrono::milliseconds stream_delay{0};
};

// Reads the environment. Throws std::invalid_argument whose text names the
// variable, the value and what is allowed.
Settings ReadSettings();

}  // namespace loopback
