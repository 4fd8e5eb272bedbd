#include "runtime/stats.h"

namespace loopback {
namespace {

constexpr const char* kCopyNames[] = {"h2d", "d2h", "d2d"};

}  // namespace

void Stats::CountKernel(const char* name) {
  std::lock_guard lock(mutex_);
  ++kernels_[name];
}

void Stats::CountCopy(CopyKind kind, std::size_t bytes) {
  Copies& copies = copies_[static_cast<int>(kind)];
  ++copies.count;
  copies.bytes += bytes;
}

void Stats::Reset() {
  for (Copies& copies : copies_) copies.count = copies.bytes = 0;
  streams_ = events_ = 0;
  std::lock_guard lock(mutex_);
  kernels_.clear();
}

std::string Stats::JsonMembers() const {
  std::string json = "\"kernels\": {";
  {
    std::lock_guard lock(mutex_);
    const char* separator = "";
    for (const auto& [name, count] : kernels_) {
      json += separator + ("\"" + name + "\": ") + std::to_string(count);
      separator = ", ";
    }
  }
  json += "}, \"copies\": {";
  const char* separator = "";
  for (int kind = 0; kind < 3; ++kind) {
    json += separator + ("\"" + std::string(kCopyNames[kind])) +
            "\": {\"count\": " + std::to_string(copies_[kind].count) +
            ", \"bytes\": " + std::to_string(copies_[kind].bytes) + "}";
    separator = ", ";
  }
  return json + "}, \"streams\": " + std::to_string(streams_) +
         ", \"events\": " + std::to_string(events_);
}

}  // namespace loopback
