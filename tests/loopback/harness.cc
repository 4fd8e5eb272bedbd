// Drives the plugin's C interface as Paddle's core does, without Paddle: so that the
// sanitizers see every byte and every thread. Ends with 0 when all is as it should be.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "api/api.h"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)
#define EXPECT_OK(call) EXPECT((call) == C_SUCCESS)

C_DeviceInterface g_api;
C_Device_st g_first{0};
C_Device_st g_second{1};
C_Device const kDevice = &g_first;

void Start(loopback::Settings settings) {
  if (settings.memory_bytes == 0) settings.memory_bytes = 1 << 24;
  std::memset(&g_api, 0, sizeof g_api);
  loopback::FillDeviceApi(&g_api, settings);
  loopback::FillStreamApi(&g_api);
  loopback::FillMemoryApi(&g_api);
  loopback::FillCopyApi(&g_api);
  EXPECT_OK(g_api.initialize());
}

C_Stream NewStream() {
  C_Stream stream = nullptr;
  EXPECT_OK(g_api.create_stream(kDevice, &stream));
  return stream;
}

char* NewBlock(std::size_t size, C_Device device = kDevice) {
  void* block = nullptr;
  EXPECT_OK(g_api.device_memory_allocate(device, &block, size));
  return static_cast<char*>(block);
}

// Queues `work` on a stream by the interface's callbacks.
void Queue(C_Stream stream, std::function<void()> work) {
  const auto call = [](C_Device, C_Stream, void* data, C_Status*) {
    auto* body = static_cast<std::function<void()>*>(data);
    (*body)();
    delete body;
  };
  auto* body = new std::function<void()>(std::move(work));
  EXPECT_OK(g_api.stream_add_callback(kDevice, stream, call, body));
}

// A task that holds its stream until told to go on.
class Gate {
 public:
  explicit Gate(C_Stream stream) {
    Queue(stream, [this] { while (!open_) std::this_thread::sleep_for(milliseconds(1)); });
  }
  void Open() { open_ = true; }

 private:
  std::atomic<bool> open_{false};
};

void TasksKeepTheirOrderAndNobodyWaits() {
  C_Stream stream = NewStream();
  std::vector<int> seen;
  Gate gate(stream);
  for (int i = 0; i < 100; ++i) Queue(stream, [&seen, i] { seen.push_back(i); });
  EXPECT(g_api.query_stream(kDevice, stream) != C_SUCCESS);
  gate.Open();
  EXPECT_OK(g_api.synchronize_stream(kDevice, stream));
  EXPECT_OK(g_api.query_stream(kDevice, stream));
  EXPECT(seen.size() == 100);
  for (int i = 0; i < 100; ++i) EXPECT(seen[i] == i);
  EXPECT_OK(g_api.destroy_stream(kDevice, stream));
  EXPECT(g_api.destroy_stream(kDevice, stream) == C_ERROR);
}

void CopiesKeepTheirPlaceInTheStream() {
  C_Stream stream = NewStream();
  char* block = NewBlock(16);
  char* twin = NewBlock(16);
  Gate gate(stream);
  char source[16] = "before";
  EXPECT_OK(g_api.async_memory_copy_h2d(kDevice, stream, block, source, 16));
  std::strcpy(source, "after");  // ours again: the copy has what it needs
  EXPECT_OK(g_api.async_memory_copy_d2d(kDevice, stream, twin, block, 16));
  gate.Open();
  char result[16] = "";
  EXPECT_OK(g_api.async_memory_copy_d2h(kDevice, stream, result, twin, 16));
  EXPECT(std::strcmp(result, "before") == 0);
  EXPECT_OK(g_api.device_memory_deallocate(kDevice, block, 16));
  EXPECT_OK(g_api.device_memory_deallocate(kDevice, twin, 16));
  EXPECT_OK(g_api.destroy_stream(kDevice, stream));
}

void BigCopiesAreOverWhenTheyReturn() {
  constexpr std::size_t kSize = 1 << 20;
  C_Stream stream = NewStream();
  char* block = NewBlock(kSize);
  Gate gate(stream);
  std::thread opener([&] { std::this_thread::sleep_for(milliseconds(50)); gate.Open(); });
  std::vector<char> source(kSize, 'x');
  EXPECT_OK(g_api.async_memory_copy_h2d(kDevice, stream, block, source.data(), kSize));
  source.assign(kSize, 'y');
  std::vector<char> result(kSize);
  EXPECT_OK(g_api.memory_copy_d2h(kDevice, result.data(), block, kSize));
  EXPECT(result == std::vector<char>(kSize, 'x'));
  opener.join();
  EXPECT_OK(g_api.device_memory_deallocate(kDevice, block, kSize));
  EXPECT_OK(g_api.destroy_stream(kDevice, stream));
}

void EventsOrderStreams() {
  C_Stream first = NewStream();
  C_Stream second = NewStream();
  C_Event event = nullptr;
  EXPECT_OK(g_api.create_event(kDevice, &event));
  EXPECT_OK(g_api.query_event(kDevice, event));  // never recorded: nothing to wait for
  EXPECT_OK(g_api.synchronize_event(kDevice, event));
  int value = 0;  // not atomic: the event alone must order the two threads
  Gate gate(first);
  Queue(first, [&] { value = 1; });
  EXPECT_OK(g_api.record_event(kDevice, first, event));
  EXPECT(g_api.query_event(kDevice, event) != C_SUCCESS);
  EXPECT_OK(g_api.stream_wait_event(kDevice, second, event));
  Queue(second, [&] { value = value == 1 ? 2 : -1; });
  EXPECT_OK(g_api.destroy_event(kDevice, event));  // the wait keeps what it needs
  gate.Open();
  EXPECT_OK(g_api.synchronize_device(kDevice));
  EXPECT(value == 2);
  EXPECT_OK(g_api.destroy_stream(kDevice, first));
  EXPECT_OK(g_api.destroy_stream(kDevice, second));
}

void DestroyingAStreamFinishesIt() {
  std::atomic<int> done{0};
  C_Stream stream = NewStream();
  for (int i = 0; i < 20; ++i) Queue(stream, [&] { ++done; });
  EXPECT_OK(g_api.destroy_stream(kDevice, stream));
  EXPECT(done == 20);
}

void ManyThreadsShareAStream() {
  C_Stream stream = NewStream();
  char* block = NewBlock(8);
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      char host[8] = {};
      for (int i = 0; i < 200; ++i) {
        EXPECT_OK(g_api.async_memory_copy_h2d(kDevice, stream, block, host, 8));
        Queue(stream, [&] { ++done; });
        EXPECT_OK(g_api.async_memory_copy_d2h(kDevice, stream, host, block, 8));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_OK(g_api.synchronize_stream(kDevice, stream));
  EXPECT(done == 800);
  EXPECT_OK(g_api.device_memory_deallocate(kDevice, block, 8));
  EXPECT_OK(g_api.destroy_stream(kDevice, stream));
}

void MemoryIsLimitedAndOwned() {
  std::size_t total = 0;
  std::size_t free = 0;
  EXPECT_OK(g_api.device_memory_stats(kDevice, &total, &free));
  EXPECT(total == free && total == 1 << 24);
  char* all = NewBlock(total);
  EXPECT(all != nullptr && NewBlock(1) == nullptr);
  EXPECT(g_api.device_memory_deallocate(kDevice, all + 1, 1) == C_ERROR);
  EXPECT(g_api.device_memory_deallocate(&g_second, all, total) == C_ERROR);
  EXPECT_OK(g_api.device_memory_set(kDevice, all, 7, total));
  char* other = NewBlock(4, &g_second);
  EXPECT_OK(g_api.memory_copy_p2p(&g_second, kDevice, other, all, 4));
  EXPECT(other[0] == 7 && other[3] == 7);
  EXPECT_OK(g_api.device_memory_deallocate(&g_second, other, 4));
  EXPECT_OK(g_api.device_memory_deallocate(kDevice, all, total));
  EXPECT(NewBlock(total + 1) == nullptr);
}

void WrongDevicesAreRefused() {
  C_Device_st wrong{2};
  void* block = nullptr;
  EXPECT(g_api.set_device(&wrong) != C_SUCCESS);
  EXPECT(g_api.device_memory_allocate(&wrong, &block, 1) != C_SUCCESS);
  EXPECT_OK(g_api.set_device(&g_second));
  C_Device_st current{-1};
  EXPECT_OK(g_api.get_device(&current));
  EXPECT(current.id == 1);
  EXPECT_OK(g_api.set_device(kDevice));
}

void TheEndLosesNothing() {
  loopback::Settings settings;
  Start(settings);
  NewBlock(100);  // never given back: the device frees it
  std::atomic<bool> done{false};
  Queue(NewStream(), [&] { std::this_thread::sleep_for(milliseconds(30)); done = true; });
  EXPECT_OK(g_api.finalize());
  EXPECT(done);
  EXPECT(g_api.synchronize_device(kDevice) != C_SUCCESS);
}

void AHangingStreamStillEnds() {
  loopback::Settings settings;
  settings.hang_streams = true;
  Start(settings);
  C_Stream stream = NewStream();
  char* block = NewBlock(16);
  EXPECT_OK(g_api.async_memory_copy_d2d(kDevice, stream, block, block + 8, 8));
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT(g_api.query_stream(kDevice, stream) != C_SUCCESS);
  EXPECT_OK(g_api.finalize());
}

void SlowStreamsAndFailingAllocations() {
  loopback::Settings settings;
  settings.stream_delay = milliseconds(40);
  settings.fail_allocation = 2;
  Start(settings);
  const auto start = Clock::now();
  C_Stream stream = NewStream();
  Queue(stream, [] {});
  EXPECT_OK(g_api.synchronize_stream(kDevice, stream));
  EXPECT(Clock::now() - start >= milliseconds(40));
  void* block = nullptr;
  EXPECT_OK(g_api.device_memory_allocate(kDevice, &block, 1));
  EXPECT(g_api.device_memory_allocate(kDevice, &block, 1) != C_SUCCESS);
  EXPECT_OK(g_api.device_memory_allocate(kDevice, &block, 1));
  EXPECT_OK(g_api.finalize());
}

}  // namespace

int main() {
  loopback::Settings settings;
  settings.devices = 2;
  Start(settings);
  TasksKeepTheirOrderAndNobodyWaits();
  CopiesKeepTheirPlaceInTheStream();
  BigCopiesAreOverWhenTheyReturn();
  EventsOrderStreams();
  DestroyingAStreamFinishesIt();
  ManyThreadsShareAStream();
  MemoryIsLimitedAndOwned();
  WrongDevicesAreRefused();
  EXPECT_OK(g_api.finalize());
  TheEndLosesNothing();
  AHangingStreamStillEnds();
  SlowStreamsAndFailingAllocations();
  std::puts("all as it should be");
}
