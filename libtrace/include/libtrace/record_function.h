// Named ranges of a program. Nothing here allocates per call, blocks, prints or throws; with no
// profiler recording a range costs one relaxed load.
//
//   LIBTRACE_SCOPE("load_batch");                  // user range until the end of the block
//   LIBTRACE_OP("aten::addmm");                    // operator-like range
//   LIBTRACE_RECORD_FUNCTION(layer.name());        // name made at run time, copied
//   libtrace::RecordFunction range("epoch");       // the same, with a handle of its own
//
// What a range can carry beyond its name (shapes, arguments, memory, modules) and ranges that end
// on another thread: range.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace libtrace {

// What a range is, as in torch: an operator (`cpu_op`) or a range the user named
// (`user_annotation`, what Python's record_function makes).
enum class RecordScope : std::uint8_t { kFunction, kUserScope };

// A place in the source with a fixed name. Must have static storage; its texts are copied at its
// first use, so a library that holds one may be unloaded.
struct Site {
  const char* name;
  const char* file;
  const char* function;
  std::uint32_t line;
  RecordScope scope;
  std::atomic<std::uint32_t> id{0};  // given at first use

  constexpr Site(const char* name_, RecordScope scope_, const char* file_, std::uint32_t line_,
                 const char* function_) noexcept
      : name(name_), file(file_), function(function_), line(line_), scope(scope_) {}
};

struct RangeDetails;

namespace detail {
struct Record;
// Bits of what is recorded right now (Detail in range.h); 0 while no window is open. The only thing
// a scope reads when nothing is recorded.
extern std::atomic<std::uint32_t> recording;
// nullptr: not recorded (dropped, and counted). `site`: static storage.
Record* begin_scope(Site& site) noexcept;
Record* begin_scope(std::string_view name, RecordScope scope) noexcept;
Record* begin_scope(Site& site, const RangeDetails& details) noexcept;
Record* begin_scope(std::string_view name, RecordScope scope, const RangeDetails& details) noexcept;
void end_scope(Record* record) noexcept;
}  // namespace detail

// Records from construction to destruction, on the thread that constructs it.
class RecordFunction {
 public:
  explicit RecordFunction(Site& site) noexcept
      : record_(active() ? detail::begin_scope(site) : nullptr) {}
  explicit RecordFunction(std::string_view name,
                          RecordScope scope = RecordScope::kUserScope) noexcept
      : record_(active() ? detail::begin_scope(name, scope) : nullptr) {}
  // `details` are read here and not kept. Gathering them costs: ask wants() first (range.h).
  RecordFunction(Site& site, const RangeDetails& details) noexcept
      : record_(active() ? detail::begin_scope(site, details) : nullptr) {}
  RecordFunction(std::string_view name, RecordScope scope, const RangeDetails& details) noexcept
      : record_(active() ? detail::begin_scope(name, scope, details) : nullptr) {}
  ~RecordFunction() {
    if (__builtin_expect(record_ != nullptr, 0)) detail::end_scope(record_);
  }
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

 private:
  static bool active() noexcept {
    return __builtin_expect(detail::recording.load(std::memory_order_relaxed) != 0, 0);
  }
  detail::Record* record_;
};

}  // namespace libtrace

#define LIBTRACE_CONCAT_(a, b) a##b
#define LIBTRACE_CONCAT(a, b) LIBTRACE_CONCAT_(a, b)
#define LIBTRACE_SITE_SCOPE_(name, scope, n)                                                  \
  static ::libtrace::Site LIBTRACE_CONCAT(libtrace_site_, n)(name, scope, __builtin_FILE(),   \
                                                             __LINE__, __builtin_FUNCTION()); \
  const ::libtrace::RecordFunction LIBTRACE_CONCAT(libtrace_scope_,                           \
                                                   n)(LIBTRACE_CONCAT(libtrace_site_, n))
#define LIBTRACE_DYNAMIC_SCOPE_(name, scope, n) \
  const ::libtrace::RecordFunction LIBTRACE_CONCAT(libtrace_scope_, n)((name), (scope))

// Names known at compile time.
#define LIBTRACE_SCOPE(name) \
  LIBTRACE_SITE_SCOPE_(name, ::libtrace::RecordScope::kUserScope, __COUNTER__)
#define LIBTRACE_OP(name) \
  LIBTRACE_SITE_SCOPE_(name, ::libtrace::RecordScope::kFunction, __COUNTER__)
// Names made at run time.
#define LIBTRACE_RECORD_FUNCTION(name) \
  LIBTRACE_DYNAMIC_SCOPE_(name, ::libtrace::RecordScope::kFunction, __COUNTER__)
#define LIBTRACE_RECORD_USER_SCOPE(name) \
  LIBTRACE_DYNAMIC_SCOPE_(name, ::libtrace::RecordScope::kUserScope, __COUNTER__)
