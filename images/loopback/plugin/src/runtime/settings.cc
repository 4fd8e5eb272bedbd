#include "runtime/settings.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace loopback {
namespace {

constexpr std::size_t kMaxDevices = 64;
constexpr std::size_t kMaxDelayMs = 60'000;
constexpr std::size_t kMiB = 1024 * 1024;
constexpr std::size_t kMaxMemoryMb = std::numeric_limits<std::size_t>::max() / kMiB;

// The whole text must be one decimal number in [1, max]: "2x", "+2", "" are mistakes.
std::optional<std::size_t> ParseCount(std::string_view text, std::size_t max) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 1 || value > max) return std::nullopt;
  return value;
}

[[noreturn]] void Refuse(const char* name, std::string_view value, const std::string& allowed) {
  throw std::invalid_argument(std::string(name) + "=" + std::string(value) + " is not valid: " + allowed);
}

std::size_t ReadCount(const char* name, std::size_t fallback, std::size_t max) {
  const char* text = std::getenv(name);
  if (text == nullptr) return fallback;
  if (const auto value = ParseCount(text, max)) return *value;
  Refuse(name, text, "give a whole number from 1 to " + std::to_string(max));
}

std::size_t DefaultMemoryMb(std::size_t devices) {
  const auto machine = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return machine / 2 / devices / kMiB;
}

// The number after `prefix` in `text`, or nothing when `text` is another fault.
std::optional<std::size_t> FaultNumber(std::string_view text, std::string_view prefix, std::size_t max) {
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  return ParseCount(text.substr(prefix.size()), max);
}

void ReadFault(Settings* settings) {
  const char* text = std::getenv("LOOPBACK_FAULT");
  if (text == nullptr) return;
  if (std::string_view(text) == "hang-stream") {
    settings->hang_streams = true;
  } else if (const auto nth = FaultNumber(text, "alloc:", kMaxMemoryMb)) {
    settings->fail_allocation = *nth;
  } else if (const auto ms = FaultNumber(text, "slow-stream:", kMaxDelayMs)) {
    settings->stream_delay = std::chrono::milliseconds(*ms);
  } else {
    Refuse("LOOPBACK_FAULT", text, "give alloc:N, hang-stream or slow-stream:MS");
  }
}

}  // namespace

Settings ReadSettings() {
  Settings settings;
  settings.devices = ReadCount("LOOPBACK_DEVICES", 1, kMaxDevices);
  settings.memory_bytes =
      kMiB * ReadCount("LOOPBACK_MEMORY_MB", DefaultMemoryMb(settings.devices), kMaxMemoryMb);
  ReadFault(&settings);
  return settings;
}

}  // namespace loopback
