// The one table of categories: what a `cat` of any dialect since 1.8 means, and which names make
// a row something else than its category says.
#pragma once

#include <string_view>

#include "libtrace/event.h"

namespace libtrace {

// `category` as written, any case; "" and unknown ones are kOther.
Kind kind_of_category(std::string_view category) noexcept;

// What a name alone says, whatever the category.
struct NameTraits {
  bool step = false;               // exactly ProfilerStep#<digits>
  bool range = false;              // a range that 1.8–1.10 wrote as an operator
  bool data_loader = false;        // starts enumerate(DataLoader) or DataLoader
  bool device_collective = false;  // a kernel of this name is communication
  bool host_collective = false;    // gloo:, mpi:, nccl:
};
NameTraits name_traits(std::string_view name) noexcept;

}  // namespace libtrace
