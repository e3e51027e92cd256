// Our side of NVTX's functions, and the recorder that they feed.
#pragma once

#include "libtrace/nvtx/abi.h"
#include "libtrace/record/nvtx_recorder.h"

namespace libtrace::nvtx {

// Puts our functions into the tables of one copy of NVTX (each library of a program may hold one).
// False when it has no table that we know.
bool install_callbacks(GetExportTable get_export_table) noexcept;

// Where ranges go from now on. Ranges that are open end where they began.
void set_recorder(const RecorderTable* table) noexcept;

// Called before each range is recorded, pushed or started, with its name; null: nothing.
using RangeObserver = void (*)(Text name);
void set_range_observer(RangeObserver observer) noexcept;

}  // namespace libtrace::nvtx
