#include "parallel.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace loopback {
namespace {

// Below this, starting a thread costs more than it saves.
constexpr double kOperationsPerThread = 1e6;

// The first failure of several threads.
class FirstError {
 public:
  void Catch(const std::function<void()>& body) noexcept {
    try {
      body();
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
    }
  }
  void Rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

std::int64_t ThreadCount(std::int64_t items, double operations) {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const auto worthwhile = static_cast<std::int64_t>(std::min(operations / kOperationsPerThread, 1e3));
  return std::max<std::int64_t>(1, std::min({cores, items, worthwhile}));
}

}  // namespace

void ParallelFor(std::int64_t items, double operations,
                 const std::function<void(std::int64_t, std::int64_t)>& body) {
  const std::int64_t parts = ThreadCount(items, operations);
  FirstError error;
  const auto run_part = [&](std::int64_t part) {
    error.Catch([&] { body(items * part / parts, items * (part + 1) / parts); });
  };
  std::vector<std::thread> threads;
  for (std::int64_t part = 1; part < parts; ++part) threads.emplace_back(run_part, part);
  run_part(0);
  for (std::thread& thread : threads) thread.join();
  error.Rethrow();
}

}  // namespace loopback
