// Streams and events.
#include <mutex>

#include "api/api.h"
#include "api/device.h"
#include "api/guard.h"
#include "runtime/runtime.h"

namespace loopback {
namespace {

// One event of Paddle: where in which stream it was last recorded.
class Event {
 public:
  void Record(const Stream& stream) {
    std::lock_guard lock(mutex_);
    point_ = stream.Here();
  }
  Point Get() {
    std::lock_guard lock(mutex_);
    return point_;
  }

 private:
  std::mutex mutex_;
  Point point_;
};

Stream* FromHandle(C_Stream stream) { return reinterpret_cast<Stream*>(stream); }
Event& FromHandle(C_Event event) { return *reinterpret_cast<Event*>(event); }

C_Status CreateStream(const C_Device device, C_Stream* stream) {
  return Guard([&] {
    *stream = reinterpret_cast<C_Stream>(DeviceOf(device).CreateStream());
    Runtime::Get().stats().CountStream();
    return C_SUCCESS;
  });
}

C_Status DestroyStream(const C_Device device, C_Stream stream) {
  return Guard([&] {
    if (Runtime::Get().Forked()) return C_SUCCESS;
    return DeviceOf(device).DestroyStream(FromHandle(stream)) ? C_SUCCESS : C_ERROR;
  });
}

C_Status QueryStream(const C_Device device, C_Stream stream) {
  return Guard([&] {
    const bool idle = DeviceOf(device).Resolve(FromHandle(stream)).Here().Reached();
    return idle ? C_SUCCESS : C_FAILED;
  });
}

C_Status SynchronizeStream(const C_Device device, C_Stream stream) {
  return Guard([&] {
    DeviceOf(device).Resolve(FromHandle(stream)).Synchronize();
    return C_SUCCESS;
  });
}

C_Status AddCallback(const C_Device device, C_Stream stream, C_Callback callback, void* data) {
  return Guard([&] {
    DeviceOf(device).Resolve(FromHandle(stream)).Enqueue([=] {
      C_Status status = C_SUCCESS;
      callback(device, stream, data, &status);
    });
    return C_SUCCESS;
  });
}

C_Status CreateEvent(const C_Device, C_Event* event) {
  return Guard([&] {
    *event = reinterpret_cast<C_Event>(new Event);
    Runtime::Get().stats().CountEvent();
    return C_SUCCESS;
  });
}

C_Status DestroyEvent(const C_Device, C_Event event) {
  delete &FromHandle(event);
  return C_SUCCESS;
}

C_Status RecordEvent(const C_Device device, C_Stream stream, C_Event event) {
  return Guard([&] {
    FromHandle(event).Record(DeviceOf(device).Resolve(FromHandle(stream)));
    return C_SUCCESS;
  });
}

C_Status QueryEvent(const C_Device, C_Event event) {
  return FromHandle(event).Get().Reached() ? C_SUCCESS : C_FAILED;
}

C_Status SynchronizeEvent(const C_Device, C_Event event) {
  FromHandle(event).Get().Wait();
  return C_SUCCESS;
}

C_Status StreamWaitEvent(const C_Device device, C_Stream stream, C_Event event) {
  return Guard([&] {
    const Point point = FromHandle(event).Get();
    DeviceOf(device).Resolve(FromHandle(stream)).Enqueue([point] { point.Wait(); });
    return C_SUCCESS;
  });
}

}  // namespace

void FillStreamApi(C_DeviceInterface* table) {
  table->create_stream = CreateStream;
  table->destroy_stream = DestroyStream;
  table->query_stream = QueryStream;
  table->synchronize_stream = SynchronizeStream;
  table->stream_add_callback = AddCallback;
  table->create_event = CreateEvent;
  table->destroy_event = DestroyEvent;
  table->record_event = RecordEvent;
  table->query_event = QueryEvent;
  table->synchronize_event = SynchronizeEvent;
  table->stream_wait_event = StreamWaitEvent;
}

}  // namespace loopback
