// What a cycle's end costs the thread that calls step(), the trace being made and handled
// elsewhere, and whether recording keeps under its ceiling. Prints `name  value  limit  ok|over`.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/profile.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kCycles = 201;
constexpr double kStepUs = 50, kLaneUs = 1;

void report(const std::string& name, double value, double limit) {
  std::printf("%s  %.2f  %.2f  %s\n", name.c_str(), value, limit, value <= limit ? "ok" : "over");
}

// Threads that record a little each time they are told to.
class Workers {
 public:
  explicit Workers(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void work() {
    std::unique_lock lock(mutex_);
    ++round_;
    done_ = 0;
    changed_.notify_all();
    changed_.wait(lock, [&] { return done_ == threads_.size(); });
  }

 private:
  void run() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stops_ || round_ != seen; });
      if (stops_) return;
      seen = round_;
      lock.unlock();
      for (int i = 0; i < 300; ++i) {
        LIBTRACE_SCOPE("work");
      }
      lock.lock();
      if (++done_ == threads_.size()) changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t round_ = 0;
  std::size_t done_ = 0;
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

double median_step_us(int lanes) {
  libtrace::Options options;
  options.schedule = libtrace::schedule(0, 0, 1);
  options.handler = libtrace::HandlerPolicy::kBackground;
  libtrace::Profiler profiler(options);
  Workers workers(lanes - 1);  // and the thread of the steps
  profiler.start();
  std::vector<double> us;
  for (int i = 0; i < kCycles; ++i) {
    workers.work();
    const auto start = Clock::now();
    profiler.step();
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  profiler.stop();
  std::nth_element(us.begin(), us.begin() + kCycles / 2, us.end());
  return us[kCycles / 2];
}

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * 4096 / 1e6;
}

// A handler that never gets on, a program that records without end.
void ceiling() {
  constexpr std::size_t kMax = std::size_t{64} << 20;
  std::mutex gate;
  libtrace::Options options;
  options.schedule = libtrace::schedule(0, 0, 1);
  options.handler = libtrace::HandlerPolicy::kBackground;
  options.max_bytes = kMax;
  options.on_trace_ready = [&](const libtrace::TracePtr&) { const std::lock_guard wait(gate); };
  const double before = resident_mb();
  double held = 0, resident = 0;
  std::uint64_t lost = 0;
  {
    std::unique_lock closed(gate);
    libtrace::Profiler profiler(options);
    profiler.start();
    for (int cycle = 0; cycle < 20; ++cycle) {
      for (int i = 0; i < 2'000'000; ++i) {
        LIBTRACE_SCOPE("without end");
      }
      held = std::max(held, static_cast<double>(profiler.stats().bytes) / 1e6);
      resident = std::max(resident, resident_mb() - before);
      profiler.step();
    }
    closed.unlock();
    profiler.stop();
    (void)profiler.flush(std::chrono::minutes(1));
    lost = profiler.stats().dropped + profiler.stats().dropped_traces;
  }
  report("ceiling_held_ratio", held * 1e6 / static_cast<double>(kMax), 1.0);
  report("ceiling_lost_uncounted", lost == 0 ? 1 : 0, 0);
  std::fprintf(stderr, "ceiling 67 MB: %.0f MB held, process grew by %.0f MB\n", held, resident);
}

}  // namespace

int main() {
  for (const int lanes : {1, 16, 256}) {
    report("step_us_" + std::to_string(lanes) + "_lanes", median_step_us(lanes),
           kStepUs + kLaneUs * lanes);
  }
  ceiling();
  return 0;
}
