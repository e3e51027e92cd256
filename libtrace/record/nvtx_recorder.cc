#include "libtrace/record/nvtx_recorder.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "libtrace/record/lane.h"
#include "libtrace/record_function.h"

namespace libtrace::nvtx {
namespace {

void* begin(const Range* range) {
  return detail::begin_scope({range->name.data, range->name.size}, RecordScope::kUserScope);
}

void end(void* handle) { detail::end_scope(static_cast<detail::Record*>(handle)); }

void mark(const Range* range) {
  if (void* const moment = begin(range)) end(moment);
}

void drop() { detail::dropped_without_lane.fetch_add(1, std::memory_order_relaxed); }

constexpr RecorderTable kTable = {.struct_size = sizeof(RecorderTable),
                                  .version = 1,
                                  .recording = &detail::recording,
                                  .push = begin,
                                  .pop = end,
                                  .start = begin,
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
