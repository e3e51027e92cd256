// What NVTX's headers call in the library that $NVTX_INJECTION64_PATH names, and what a program
// with a recorder of its own calls.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include "libtrace/nvtx/auto_profile.h"
#include "libtrace/nvtx/callbacks.h"
#include "libtrace/record/nvtx_recorder.h"

namespace libtrace::nvtx {
namespace {

// The one voice of a library that nobody calls: whoever set the variables reads it.
void say(std::string_view text) {
  std::fprintf(stderr, "traceglass: %.*s\n", static_cast<int>(text.size()), text.data());
}

// Never destroyed but ended at exit: threads may still name ranges then.
AutoProfile* auto_profile = nullptr;
pid_t owner = 0;

void end_at_exit() {
  // The child of a fork has neither the recording nor its timer.
  if (getpid() == owner) auto_profile->end();
}

void observe(Text name) {
  if (getpid() == owner) auto_profile->on_range({name.data, name.size});
}

void start_auto_profile() try {
  auto settings = read_settings([](const char* name) { return std::getenv(name); });
  if (!settings) return;
  const bool steps = !settings->step.empty();
  owner = getpid();
  auto_profile = new AutoProfile(std::move(*settings), say);
  auto_profile->begin();
  std::atexit(end_at_exit);
  if (steps) set_range_observer(observe);
} catch (const std::exception& e) {
  say(e.what());
}

std::mutex mutex;
bool started = false;
bool host_records = false;

}  // namespace
}  // namespace libtrace::nvtx

extern "C" {

// Called once by each copy of NVTX in the program. 1: our functions are in.
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    libtrace::nvtx::GetExportTable get_export_table) {
  using namespace libtrace::nvtx;
  const std::lock_guard lock(mutex);
  if (!install_callbacks(get_export_table)) return 0;
  if (!started && !host_records) {
    set_recorder(recorder_table());
    start_auto_profile();
  }
  started = true;
  return 1;
}

// kAttachSymbol: see nvtx_recorder.h.
__attribute__((visibility("default"))) void traceglass_nvtx_attach(
    const libtrace::nvtx::RecorderTable* table) {
  using namespace libtrace::nvtx;
  if (table == nullptr || table->struct_size < sizeof *table) return;
  const std::lock_guard lock(mutex);
  host_records = true;
  set_recorder(table);
  set_range_observer(nullptr);
  if (auto_profile != nullptr && getpid() == owner) auto_profile->end();
}

}  // extern "C"
