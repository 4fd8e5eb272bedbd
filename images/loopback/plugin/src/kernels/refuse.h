// How a kernel says no.
#pragma once

#include <string>

namespace loopback {

// Throws Paddle's own error, which Python sees as a ValueError with this text. Any
// other C++ exception out of a kernel would end the process.
[[noreturn]] void Refuse(const std::string& reason);

}  // namespace loopback
