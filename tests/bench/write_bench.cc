// Ten million recorded ranges to a compressed file, against the least that the same bytes can cost:
// std::to_chars into blocks, ISA-L level 1, a file. Also what a cycle's end costs the program, and
// what recording holds. Prints `name  value  limit  ok|over`.
//
//   write_bench [EVENTS]      default 10 000 000
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/exports.h"
#include "libtrace/profile.h"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using libtrace::EventId;

constexpr double kOverFloor = 1.3;
constexpr std::size_t kBlock = std::size_t{1} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of all threads together: what a busy machine does not change.
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void report(const char* name, double value, double limit) {
  std::printf("%s  %.3f  %.3f  %s\n", name, value, limit, value <= limit ? "ok" : "over");
}

// The floor: one thread, one block, nothing decided but what the numbers are.
class Floor {
 public:
  explicit Floor(const fs::path& path)
      : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644)),
        text_(kBlock + 4096),
        packed_(kBlock),
        level_(ISAL_DEF_LVL1_DEFAULT) {
    isal_deflate_init(&stream_);
    stream_.level = 1;
    stream_.level_buf = level_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(level_.size());
    stream_.gzip_flag = IGZIP_GZIP;
    at_ = text_.data();
  }
  ~Floor() { close(fd_); }
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  void text(std::string_view s) { at_ = std::copy(s.begin(), s.end(), at_); }
  void number(std::int64_t v) { at_ = std::to_chars(at_, at_ + 24, v).ptr; }
  void microseconds(std::int64_t ns) {
    number(ns / 1000);
    const auto rest = static_cast<int>(ns % 1000);
    *at_++ = '.';
    *at_++ = static_cast<char>('0' + rest / 100);
    *at_++ = static_cast<char>('0' + rest / 10 % 10);
    *at_++ = static_cast<char>('0' + rest % 10);
  }
  void row_done() {
    if (at_ >= text_.data() + kBlock) flush(false);
  }
  std::size_t finish() {
    flush(true);
    fsync(fd_);
    return bytes_;
  }

 private:
  void flush(bool last) {
    bytes_ += static_cast<std::size_t>(at_ - text_.data());
    stream_.next_in = reinterpret_cast<std::uint8_t*>(text_.data());
    stream_.avail_in = static_cast<std::uint32_t>(at_ - text_.data());
    stream_.end_of_stream = last ? 1 : 0;
    do {
      stream_.next_out = packed_.data();
      stream_.avail_out = static_cast<std::uint32_t>(packed_.size());
      isal_deflate(&stream_);
      const std::size_t n = packed_.size() - stream_.avail_out;
      if (n != 0 && ::write(fd_, packed_.data(), n) < 0) std::abort();
    } while (stream_.avail_out == 0);
    at_ = text_.data();
  }

  int fd_;
  std::vector<char> text_;
  std::vector<std::uint8_t> packed_, level_;
  isal_zstream stream_{};
  char* at_;
  std::size_t bytes_ = 0;
};

// What a row says, ready to be printed.
struct Row {
  std::string_view category, name;
  std::string_view pid, tid;
  std::int64_t start, dur, id;
};

std::size_t write_floor(const std::vector<Row>& rows, const fs::path& path) {
  Floor out(path);
  out.text("{\n\"traceEvents\": [");
  for (const Row& r : rows) {
    out.text(",\n{\"ph\":\"X\",\"cat\":\"");
    out.text(r.category);
    out.text("\",\"name\":\"");
    out.text(r.name);
    out.text("\",\"pid\":");
    out.text(r.pid);
    out.text(",\"tid\":");
    out.text(r.tid);
    out.text(",\"ts\":");
    out.microseconds(r.start);
    out.text(",\"dur\":");
    out.microseconds(r.dur);
    out.text(",\"args\":{\"External id\":");
    out.number(r.id + 1);
    out.text(",\"Ev Idx\":");
    out.number(r.id);
    out.text("}}");
    out.row_done();
  }
  out.text("\n]}\n");
  return out.finish();
}

std::vector<Row> rows_of(const libtrace::Trace& trace) {
  std::vector<Row> rows(trace.size());
  for (EventId e = 0; e < trace.size(); ++e) {
    const libtrace::Lane& lane = trace.lanes()[trace.lane_of(e)];
    rows[trace.order(e)] = {trace.category(e), trace.name(e), lane.pid,      lane.tid,
                            trace.start(e),    trace.dur(e),  trace.order(e)};
  }
  return rows;
}

// Operators of four kinds on four threads, nested as a model's are.
void run_model(std::size_t events) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([events] {
      for (std::size_t i = 0; i < events / 16; ++i) {
        LIBTRACE_OP("aten::linear");
        LIBTRACE_OP("aten::addmm");
        {
          LIBTRACE_OP("aten::expand");
        }
        LIBTRACE_SCOPE("forward");
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

// The quickest of some batches of scopes, ns each.
template <class F>
double best_scope_ns(int batches, F&& go_on) {
  double best = 1e9;
  for (int batch = 0; batch < batches && go_on(); ++batch) {
    constexpr int kScopes = 10'000;
    const auto start = Clock::now();
    for (int i = 0; i < kScopes; ++i) {
      LIBTRACE_SCOPE("foreground");
    }
    best = std::min(best, seconds_since(start) * 1e9 / kScopes);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the writer shares two cores
  }
  return best;
}

// What a scope costs while the cycle before it is made into a trace and written.
void while_writing(std::size_t events, const fs::path& file) {
  std::atomic<bool> done{false};
  libtrace::Options options;
  options.schedule = libtrace::schedule(0, 0, 1);
  options.handler = libtrace::HandlerPolicy::kBackground;
  options.on_trace_ready = [&](const libtrace::TracePtr& t) {
    if (!done) (void)libtrace::export_chrome_trace(*t, file.string());
    done = true;
  };
  libtrace::Profiler profiler(options);
  profiler.start();
  run_model(events);
  const double quiet = best_scope_ns(300, [] { return true; });
  profiler.step();
  const double busy = best_scope_ns(300, [&] { return !done.load(); });
  profiler.stop();
  (void)profiler.flush(std::chrono::minutes(5));
  report("scope_while_writing_ns", busy, quiet + 3);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t events = argc > 1 ? std::stoul(argv[1]) : 10'000'000;
  const fs::path folder = fs::temp_directory_path() / ("write_bench_" + std::to_string(getpid()));
  fs::create_directories(folder);
  double stop_seconds = 0, build_seconds = 0;
  libtrace::TracePtr trace;
  {
    libtrace::Options options;
    options.schedule = libtrace::schedule(0, 0, 1);
    options.on_trace_ready = [&](const libtrace::TracePtr& t) {
      if (trace == nullptr) trace = t;
    };
    libtrace::Profiler profiler(options);
    profiler.start();
    run_model(events);
    const auto start = Clock::now();
    profiler.step();
    build_seconds = seconds_since(start);
    stop_seconds = static_cast<double>(profiler.stats().stop_us) / 1e6;
    profiler.stop();
    if (profiler.stats().dropped != 0) std::fprintf(stderr, "scopes were dropped\n");
  }
  const auto count = static_cast<double>(trace->size());
  std::fprintf(stderr,
               "%.1f M events: window closed in %.6f s, built in %.2f s (%.0f ns an event)\n",
               count / 1e6, stop_seconds, build_seconds, build_seconds * 1e9 / count);

  double best = 1e9, floor = 1e9, best_cpu = 1e9, floor_cpu = 1e9;
  std::size_t bytes = 0;
  const std::vector<Row> rows = rows_of(*trace);
  for (int round = 0; round < 3; ++round) {
    auto start = Clock::now();
    double cpu = cpu_seconds();
    bytes = write_floor(rows, folder / "floor.gz");
    floor = std::min(floor, seconds_since(start));
    floor_cpu = std::min(floor_cpu, cpu_seconds() - cpu);
    cpu = cpu_seconds();
    start = Clock::now();
    const libtrace::Status status =
        libtrace::export_chrome_trace(*trace, (folder / "trace.json.gz").string());
    best = std::min(best, seconds_since(start));
    best_cpu = std::min(best_cpu, cpu_seconds() - cpu);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      return 1;
    }
  }
  std::fprintf(
      stderr, "written in %.2f s (%.0f ns an event), floor %.2f s (%.0f ns); %.0f MB of JSON\n",
      best, best * 1e9 / count, floor, floor * 1e9 / count, static_cast<double>(bytes) / 1e6);
  std::fprintf(stderr, "of CPU: %.0f ns an event, floor %.0f ns\n", best_cpu * 1e9 / count,
               floor_cpu * 1e9 / count);
  std::error_code ignored;
  const auto ours = static_cast<double>(fs::file_size(folder / "trace.json.gz"));
  const auto theirs = static_cast<double>(fs::file_size(folder / "floor.gz"));
  report("write_gz_ratio", best / floor, kOverFloor);
  report("write_gz_cpu_ratio", best_cpu / floor_cpu, 1.6);
  report("write_gz_bytes_ratio", ours / theirs, 1.02);
  while_writing(events / 4, folder / "beside.json.gz");
  fs::remove_all(folder, ignored);
  return 0;
}
