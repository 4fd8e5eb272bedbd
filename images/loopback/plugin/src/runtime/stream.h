// A stream: tasks done one after another by a thread of its own; and an event:
// a point in a stream that others can ask about or wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace loopback {

using Task = std::function<void()>;

// How far a stream has come. It outlives its stream, because events refer to it.
class Progress {
 public:
  void Wait(std::uint64_t ticket);  // until `ticket` is done or abandoned
  bool Reached(std::uint64_t ticket);

 private:
  friend class Stream;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> queue;
  std::uint64_t issued = 0;  // number of the last task accepted
  std::uint64_t done = 0;    // number of the last task finished
  bool busy = false;         // a task runs right now
  bool stop = false;         // the worker must end
};

// What an event remembers: a task's number in some stream. Empty: not recorded yet.
struct Point {
  std::shared_ptr<Progress> progress;
  std::uint64_t ticket = 0;

  bool Reached() const { return progress == nullptr || progress->Reached(ticket); }
  void Wait() const { if (progress != nullptr) progress->Wait(ticket); }
};

class Stream {
 public:
  // `hang`: accept tasks and never do them. `delay`: wait that long before each.
  Stream(bool hang, std::chrono::milliseconds delay);
  // Finishes what was accepted (a hanging stream drops it), then ends the thread.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Accepts a task and returns at once.
  void Enqueue(Task task);

  // Does `task` after all that was accepted before it, and returns when it is
  // done. An idle stream costs no thread switch: the caller's thread does it.
  void Run(const Task& task);

  // The point after the last task accepted so far.
  Point Here() const;
  void Synchronize() const { Here().Wait(); }

 private:
  void Work();
  void Finish();  // call with the lock held

  const bool hang_;
  const std::chrono::milliseconds delay_;
  const std::shared_ptr<Progress> progress_;
  std::thread worker_;  // last: it starts when all else is ready
};

}  // namespace loopback
