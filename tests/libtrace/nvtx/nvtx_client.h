// What NVTX's headers are in a program: tables of function pointers, which whoever is named by
// $NVTX_INJECTION64_PATH may fill at the first call.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdlib>

#include "libtrace/nvtx/abi.h"

namespace nvtx_client {

using libtrace::nvtx::FunctionPointer;
using libtrace::nvtx::FunctionTable;

inline std::array<FunctionPointer, 16> core{}, core2{};
inline std::array<FunctionPointer*, 17> core_slots{}, core2_slots{};

inline int module_function_table(int module, FunctionTable* table, unsigned int* size) {
  if (module != libtrace::nvtx::kCoreModule && module != libtrace::nvtx::kCore2Module) return 0;
  *table = module == libtrace::nvtx::kCoreModule ? core_slots.data() : core2_slots.data();
  *size = 16;
  return 1;
}

inline const void* export_table(std::uint32_t id) {
  static const libtrace::nvtx::ExportTableCallbacks callbacks = {
      sizeof(libtrace::nvtx::ExportTableCallbacks), module_function_table};
  return id == libtrace::nvtx::kCallbacksTable ? &callbacks : nullptr;
}

// Whether a tool is there.
inline bool initialize() {
  for (std::size_t id = 1; id < core.size(); ++id) {
    core_slots[id] = &core[id];
    core2_slots[id] = &core2[id];
  }
  const char* const path = std::getenv("NVTX_INJECTION64_PATH");
  void* const library = path != nullptr ? dlopen(path, RTLD_LAZY) : nullptr;
  if (library == nullptr) return false;
  using Initialize = int (*)(libtrace::nvtx::GetExportTable);
  const auto init = reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
  return init != nullptr && init(export_table) == 1;
}

// Calls what is in the slot; with no tool nothing happens.
template <class R, class... Args>
R call(FunctionPointer function, Args... args) {
  if (function == nullptr) return R();
  return reinterpret_cast<R (*)(Args...)>(function)(args...);
}

inline int push(const char* name) { return call<int>(core[libtrace::nvtx::kRangePushA], name); }
inline int pop() { return call<int>(core[libtrace::nvtx::kRangePop]); }

}  // namespace nvtx_client
