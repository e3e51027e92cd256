#include "libtrace/record/nvtx_recorder.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "libtrace/range.h"
#include "libtrace/record/lane.h"

namespace libtrace::nvtx {
namespace {

std::string_view view_of(Text text) noexcept { return {text.data, text.size}; }

Value value_of(const Range& range) noexcept {
  switch (range.payload_kind) {
    case PayloadKind::kInt:
      return Value::integer(range.payload.i);
    case PayloadKind::kUint:
      return range.payload.u <= std::uint64_t{INT64_MAX} ? Value::integer(range.payload.i)
                                                         : Value::uinteger(range.payload.u);
    case PayloadKind::kDouble:
      return std::isfinite(range.payload.d) ? Value::real(range.payload.d) : Value::null();
    case PayloadKind::kNone:
      break;
  }
  return Value::null();
}

// What stands beside the name.
class Details {
 public:
  explicit Details(const Range& range) noexcept {
    details_.args = args_;
    if (range.domain.size != 0) add("Domain", Value::string(view_of(range.domain)));
    if (range.category.size != 0) add("Category", Value::string(view_of(range.category)));
    if (range.payload_kind != PayloadKind::kNone) add("Payload", value_of(range));
  }
  Details(const Details&) = delete;
  Details& operator=(const Details&) = delete;
  [[nodiscard]] const RangeDetails& get() const noexcept { return details_; }

 private:
  void add(std::string_view key, const Value& value) noexcept {
    args_[details_.arg_count++] = {key, value};
  }
  RangeArg args_[3];
  RangeDetails details_;
};

template <class Begin>
void* begin(const Range& range, Begin&& begin_range) noexcept {
  return begin_range(view_of(range.name), RecordScope::kUserScope, Details(range).get());
}

void* push(const Range* range) { return begin(*range, begin_range); }
void pop(void* handle) { end_range(static_cast<OpenRange*>(handle)); }
void* start(const Range* range) { return begin(*range, begin_async_range); }
void end(void* handle) { end_async_range(static_cast<OpenRange*>(handle)); }
void mark(const Range* range) {
  const Details details(*range);
  if (details.get().arg_count == 0) return libtrace::mark(view_of(range->name));
  libtrace::mark(view_of(range->name), details.get());
}
void drop() { detail::dropped_without_lane.fetch_add(1, std::memory_order_relaxed); }

constexpr RecorderTable kTable = {.struct_size = sizeof(RecorderTable),
                                  .version = 1,
                                  .recording = &detail::recording,
                                  .push = push,
                                  .pop = pop,
                                  .start = start,
                                  .end = end,
                                  .mark = mark,
                                  .drop = drop};

// The injection library has a recorder too, and that one is not to be attached to itself.
bool in_this_object(void* address) noexcept {
  Dl_info own{}, other{};
  return dladdr(&kTable, &own) != 0 && dladdr(address, &other) != 0 &&
         own.dli_fbase == other.dli_fbase;
}

}  // namespace

const RecorderTable* recorder_table() noexcept { return &kTable; }

void attach_to_injection() noexcept {
  const char* const path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr) return;
  const std::string_view view = path;
  if (!view.substr(view.rfind('/') + 1).starts_with(kLibraryName)) return;
  // NVTX loads it at the program's first range, which may come later.
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  void* const attach = dlsym(library, kAttachSymbol);
  if (attach == nullptr || in_this_object(attach)) return;
  reinterpret_cast<Attach>(attach)(recorder_table());
}

}  // namespace libtrace::nvtx
