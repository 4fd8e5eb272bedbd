// Turns C++ failures into the status codes of Paddle's C interface: no exception
// may cross it.
#pragma once

#include <cstdio>
#include <exception>

#include "paddle/phi/backends/device_ext.h"

namespace loopback {

// Calls `body`, which returns a C_Status. A failure prints one line on stderr.
template <typename Body>
C_Status Guard(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "loopback: %s\n", failure.what());
    return C_INTERNAL_ERROR;
  }
}

}  // namespace loopback
