// walker_check LIBRARY: NVIDIA's library steps through buffers that we fill, in random order and of
// every kind that we read, and our decoder finds in them what was written. No driver, no GPU: only
// cuptiGetVersion, cuptiActivityGetNextRecord and cuptiGetCallbackName are called, which the
// releases that check.py names here bear. (Others crash: the product calls none of it before
// cuInit.)
#include <dlfcn.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "libtrace/cupti/api.h"
#include "libtrace/cupti/decode.h"
#include "tests/fakes/fake_records.h"

namespace {

using namespace libtrace::cupti;
using traceglass_fakes::Record;
using traceglass_fakes::record_size;

constexpr ActivityKind kKinds[] = {
    ActivityKind::kConcurrentKernel, ActivityKind::kMemcpy,          ActivityKind::kMemcpy2,
    ActivityKind::kMemset,           ActivityKind::kRuntime,         ActivityKind::kDriver,
    ActivityKind::kOverhead,         ActivityKind::kSynchronization, ActivityKind::kCudaEvent,
    ActivityKind::kMemory2,          ActivityKind::kGraphTrace,      ActivityKind::kContext};

int failures = 0;
void expect(bool holds, const std::string& what) {
  if (holds) return;
  if (++failures <= 10) std::printf("FAIL: %s\n", what.c_str());
}

// A record of this kind whose number can be read back from it.
Record make(ActivityKind kind, std::uint32_t version, std::uint64_t n) {
  Record r(kind, version);
  const auto id = static_cast<std::uint32_t>(n);
  static const char name[] = "kernel";
  switch (kind) {
    case ActivityKind::kConcurrentKernel:
      return r.put(layout::kernel::kStart, n)
          .put(layout::kernel::kEnd, n + 1)
          .put(layout::kernel::kCorrelation, id)
          .put(layout::kernel::kDevice, 0U)
          .put(layout::kernel::kName, name);
    case ActivityKind::kMemcpy:
      return r.put(layout::memcpy::kStart, n)
          .put(layout::memcpy::kEnd, n + 1)
          .put(layout::memcpy::kDevice, 0U)
          .put(layout::memcpy::kCorrelation, id);
    case ActivityKind::kMemcpy2:
      return r.put(layout::memcpy::kStart, n)
          .put(layout::memcpy::kEnd, n + 1)
          .put(layout::memcpy::kDevice, 0U)
          .put(layout::peer::kCorrelation, id);
    case ActivityKind::kMemset:
      return r.put(layout::memset::kStart, n)
          .put(layout::memset::kEnd, n + 1)
          .put(layout::memset::kDevice, 0U)
          .put(layout::memset::kCorrelation, id);
    case ActivityKind::kRuntime:
      return r.put(layout::call::kCbid, 211U)
          .put(layout::call::kStart, n)
          .put(layout::call::kEnd, n + 1)
          .put(layout::call::kCorrelation, id);
    case ActivityKind::kDriver:
      return r.put(layout::call::kCbid, 307U)
          .put(layout::call::kStart, n)
          .put(layout::call::kEnd, n + 1)
          .put(layout::call::kCorrelation, id);
    case ActivityKind::kOverhead:
      return r.put(layout::overhead::kStart, n).put(layout::overhead::kEnd, n + 1);
    case ActivityKind::kSynchronization:
      return r.put(layout::sync::kStart, n)
          .put(layout::sync::kEnd, n + 1)
          .put(layout::sync::kCorrelation, id);
    case ActivityKind::kCudaEvent:
      return r.put(layout::cuda_event::kCorrelation, id);
    case ActivityKind::kMemory2:
      return r.put(layout::memory::kTime, n).put(layout::memory::kCorrelation, id);
    case ActivityKind::kGraphTrace:
      return r.put(layout::graph::kStart, n)
          .put(layout::graph::kEnd, n + 1)
          .put(layout::graph::kDevice, 0U)
          .put(layout::graph::kCorrelation, id);
    default:
      return r.put(layout::context::kContext, id).put(layout::context::kDevice, 3U);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  CuptiApi api;
  const std::string missing = find_functions(library, api);
  expect(missing.empty(), "it lacks " + missing);
  if (failures != 0) return 1;
  expect(api.GetVersion(&api.version) == kSuccess, "cuptiGetVersion");

  std::mt19937 random(7);
  std::uint64_t steps = 0;
  for (int round = 0; round < 2000; ++round) {
    // ---- lay out ------------------------------------------------------------------------------
    alignas(8) static std::uint8_t buffer[1 << 15];
    std::vector<std::pair<ActivityKind, std::size_t>> written;  // kind, offset
    std::size_t used = 0;
    for (std::uint64_t n = 1; n <= 1 + random() % 200; ++n) {
      const ActivityKind kind = kKinds[random() % std::size(kKinds)];
      const Record record = make(kind, api.version, n);
      const std::vector<std::uint8_t>& bytes = record.bytes();
      if (used + bytes.size() > sizeof buffer) break;
      std::memcpy(buffer + used, bytes.data(), bytes.size());
      written.emplace_back(kind, used);
      used += bytes.size();
    }
    // ---- the library's own steps are at our offsets --------------------------------------------
    std::uint8_t* record = nullptr;
    std::size_t i = 0;
    while (api.ActivityGetNextRecord(buffer, used, &record) == kSuccess) {
      const auto at = static_cast<std::size_t>(record - buffer);
      if (i >= written.size() || at != written[i].second) {
        expect(false, "step " + std::to_string(i) + " is at " + std::to_string(at) +
                          ", after kind " +
                          std::to_string(static_cast<unsigned>(written[i == 0 ? 0 : i - 1].first)));
        break;
      }
      ++i;
      ++steps;
    }
    expect(i == written.size(),
           "walked " + std::to_string(i) + " of " + std::to_string(written.size()) + " records");
    // ---- and our decoder finds everything -------------------------------------------------------
    EventLog log;
    decode(api, buffer, used, log);
    std::size_t count[64] = {};
    for (const auto& [kind, offset] : written) ++count[static_cast<unsigned>(kind)];
    const auto counted = [&](ActivityKind kind) { return count[static_cast<unsigned>(kind)]; };
    expect(log.losses.unreadable == 0 && log.losses.without_time == 0, "losses");
    expect(log.kernels.size() == counted(ActivityKind::kConcurrentKernel), "kernels");
    expect(log.copies.size() == counted(ActivityKind::kMemcpy) + counted(ActivityKind::kMemcpy2),
           "copies");
    expect(log.sets.size() == counted(ActivityKind::kMemset), "sets");
    expect(log.calls.size() == counted(ActivityKind::kRuntime) + counted(ActivityKind::kDriver),
           "calls");
    expect(log.syncs.size() == counted(ActivityKind::kSynchronization), "syncs");
    expect(log.event_records.size() == counted(ActivityKind::kCudaEvent), "event records");
    expect(log.overheads.size() == counted(ActivityKind::kOverhead), "overheads");
    expect(log.allocations.size() == counted(ActivityKind::kMemory2), "allocations");
    expect(log.graphs.size() == counted(ActivityKind::kGraphTrace), "graphs");
    for (const KernelEvent& e : log.kernels) {
      expect(e.correlation == e.start && log.name(e.name) == "kernel", "a kernel's fields");
    }
    for (const CopyEvent& e : log.copies) expect(e.correlation == e.start, "a copy's fields");
    for (const CallEvent& e : log.calls) expect(e.correlation == e.start, "a call's fields");
    // ---- a record cut off, or never completed
    // ----------------------------------------------------
    EventLog cut;
    decode(api, buffer, used - 1, cut);
    expect(cut.size() + cut.device_of_context.size() <= written.size(), "a cut buffer");
    std::memset(buffer + written.back().second, 0, used - written.back().second);
    EventLog incomplete;
    decode(api, buffer, used, incomplete);
    expect(incomplete.losses.unreadable <= 1, "an incomplete record");
  }
  for (const auto& [driver, cbid, name] : {std::tuple(false, 211U, "cudaLaunchKernel"),
                                           {false, 17U, "cudaGetDevice"},
                                           {true, 307U, "cuLaunchKernel"},
                                           {true, 304U, "cuCtxGetCurrent"},
                                           {true, 277U, "cuMemcpyHtoDAsync_v2"},
                                           {false, 214U, "cudaLaunchKernel_ptsz"}}) {
    const char* text = nullptr;
    api.GetCallbackName(driver ? kDomainDriver : kDomainRuntime, cbid, &text);
    expect(text != nullptr && without_version(text) == name,
           std::string(name) + " is called " + (text != nullptr ? text : "nothing"));
  }
  std::printf("API version %u: %llu steps, %d failures\n", api.version,
              static_cast<unsigned long long>(steps), failures);
  return failures == 0 ? 0 : 1;
}
