#include "runtime/stream.h"

#include <utility>

namespace loopback {

void Progress::Wait(std::uint64_t ticket) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done >= ticket; });
}

bool Progress::Reached(std::uint64_t ticket) {
  std::lock_guard lock(mutex);
  return done >= ticket;
}

Stream::Stream(bool hang, std::chrono::milliseconds delay)
    : hang_(hang), delay_(delay), progress_(std::make_shared<Progress>()), worker_([this] { Work(); }) {}

Stream::~Stream() {
  {
    std::lock_guard lock(progress_->mutex);
    progress_->stop = true;
    progress_->changed.notify_all();
  }
  if (worker_.joinable()) worker_.join();
}

void Stream::Enqueue(Task task) {
  std::lock_guard lock(progress_->mutex);
  ++progress_->issued;
  progress_->queue.push_back(std::move(task));
  progress_->changed.notify_all();
}

void Stream::Run(const Task& task) {
  std::unique_lock lock(progress_->mutex);
  const bool idle = progress_->done == progress_->issued;
  if (!idle || hang_ || delay_.count() > 0) {
    lock.unlock();
    Enqueue(task);
    Synchronize();
    return;
  }
  ++progress_->issued;
  progress_->busy = true;
  lock.unlock();
  task();
  lock.lock();
  Finish();
}

Point Stream::Here() const {
  std::lock_guard lock(progress_->mutex);
  return {progress_, progress_->issued};
}

void Stream::Work() {
  Progress& p = *progress_;
  std::unique_lock lock(p.mutex);
  while (true) {
    p.changed.wait(lock, [&] {
      return hang_ ? p.stop : !p.busy && (p.stop || !p.queue.empty());
    });
    if (hang_ || p.queue.empty()) break;
    Task task = std::move(p.queue.front());
    p.queue.pop_front();
    p.busy = true;
    lock.unlock();
    if (delay_.count() > 0) std::this_thread::sleep_for(delay_);
    task();
    task = nullptr;  // what it holds is released before anybody hears of it
    lock.lock();
    Finish();
  }
  p.queue.clear();
  p.done = p.issued;  // whoever still waits for a dropped task goes on
  p.changed.notify_all();
}

void Stream::Finish() {
  progress_->busy = false;
  ++progress_->done;
  progress_->changed.notify_all();
}

}  // namespace loopback
