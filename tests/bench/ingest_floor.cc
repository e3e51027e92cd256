// The least that a load of a trace can cost with the libraries it uses, on one thread: inflate the
// whole file with ISA-L, then walk every event once with simdjson on demand, summing the fields
// that a load reads (ph cat name pid tid ts dur, and of the arguments External id, correlation,
// device, stream). Prints the median of some runs. Deliberately ignorant of the project.
#include <isa-l/igzip_lib.h>
#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
namespace ondemand = simdjson::ondemand;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::uint8_t> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::uint8_t> bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// A buffer that is written once and never zeroed before: zeroing would be counted as inflating.
struct Text {
  std::unique_ptr<char, decltype(&std::free)> data{nullptr, &std::free};
  std::size_t size = 0, capacity = 0;

  void grow(std::size_t wanted) {
    if (wanted <= capacity) return;
    capacity = std::max(wanted, capacity * 2);
    auto* larger = static_cast<char*>(std::realloc(data.release(), capacity));
    if (larger == nullptr) std::abort();
    data.reset(larger);
  }
};

Text inflate(std::vector<std::uint8_t>& gzip) {
  Text text;
  // ISIZE of the last member: a good guess, and exact for one member below 4 GiB.
  std::uint32_t guess = 0;
  if (gzip.size() >= 4) std::memcpy(&guess, gzip.data() + gzip.size() - 4, sizeof guess);
  text.grow(guess + simdjson::SIMDJSON_PADDING);

  inflate_state state;
  isal_inflate_init(&state);
  state.next_in = gzip.data();
  state.avail_in = static_cast<std::uint32_t>(gzip.size());
  while (state.avail_in > 0) {
    isal_inflate_reset(&state);
    state.crc_flag = ISAL_GZIP;
    do {
      if (text.size + simdjson::SIMDJSON_PADDING >= text.capacity) text.grow(text.capacity * 2);
      const std::size_t room = text.capacity - simdjson::SIMDJSON_PADDING - text.size;
      state.next_out = reinterpret_cast<std::uint8_t*>(text.data.get() + text.size);
      state.avail_out = static_cast<std::uint32_t>(std::min<std::size_t>(room, 1u << 30));
      const std::uint32_t before = state.avail_out;
      if (isal_inflate(&state) != ISAL_DECOMP_OK) {
        std::fprintf(stderr, "not a whole gzip file\n");
        std::exit(2);
      }
      text.size += before - state.avail_out;
    } while (state.block_state != ISAL_BLOCK_FINISH);
  }
  return text;
}

// A key as written; the keys looked for hold no escape.
std::string_view text_of(ondemand::raw_json_string key) {
  const char* begin = key.raw();
  const char* end = begin;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {begin, static_cast<std::size_t>(end - begin)};
}

struct Sums {
  std::uint64_t events = 0, bytes = 0, numbers = 0;
  double time = 0;
};

void add_argument(std::string_view key, ondemand::value value, Sums& sums) {
  if (key == "External id" || key == "correlation" || key == "device" || key == "stream") {
    std::int64_t number = 0;
    if (value.get_int64().get(number) == simdjson::SUCCESS) {
      sums.numbers += static_cast<std::uint64_t>(number);
    }
  }
}

void add_event(ondemand::object event, Sums& sums) {
  ++sums.events;
  for (ondemand::field field : event) {
    const std::string_view key = text_of(field.key());
    if (key == "ts" || key == "dur") {
      double number = 0;
      if (field.value().get_double().get(number) == simdjson::SUCCESS) sums.time += number;
    } else if (key == "name" || key == "cat" || key == "ph" || key == "pid" || key == "tid") {
      sums.bytes += field.value().raw_json_token().size();
    } else if (key == "args") {
      ondemand::object arguments;
      if (field.value().get_object().get(arguments) != simdjson::SUCCESS) continue;
      for (ondemand::field argument : arguments) {
        add_argument(text_of(argument.key()), argument.value(), sums);
      }
    }
  }
}

Sums walk(const Text& text) {
  ondemand::parser parser;
  ondemand::document document =
      parser.iterate(text.data.get(), text.size, text.size + simdjson::SIMDJSON_PADDING);
  Sums sums;
  for (ondemand::field field : document.get_object()) {
    if (text_of(field.key()) != std::string_view("traceEvents")) continue;
    for (ondemand::object event : field.value().get_array()) add_event(event, sums);
  }
  return sums;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "ingest_floor TRACE.json.gz [RUNS]\n");
    return 2;
  }
  const int runs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  std::vector<double> total, inflated;
  Sums sums;
  std::size_t bytes = 0;
  for (int run = 0; run < runs; ++run) {
    const auto start = Clock::now();
    auto gzip = read_file(argv[1]);
    const Text text = inflate(gzip);
    inflated.push_back(seconds_since(start));
    sums = walk(text);
    total.push_back(seconds_since(start));
    bytes = text.size;
  }
  std::sort(total.begin(), total.end());
  std::sort(inflated.begin(), inflated.end());
  const double median = total[total.size() / 2];
  const double inflate_median = inflated[inflated.size() / 2];
  std::printf(
      "{\"seconds\": %.6f, \"inflate_seconds\": %.6f, \"bytes\": %zu, \"events\": %llu, "
      "\"check\": %.3f}\n",
      median, inflate_median, bytes, static_cast<unsigned long long>(sums.events),
      sums.time + static_cast<double>(sums.bytes) + static_cast<double>(sums.numbers % 1000));
  return 0;
}
