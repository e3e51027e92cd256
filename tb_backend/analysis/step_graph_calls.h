// What a runtime or driver call, or an operator, does to the host: told by its name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

enum class CallClass : std::uint8_t {
  kOther,
  kSync,    // returns when a stream, an event or the device is done
  kMemcpy,  // a copy: with pageable memory, or by name, the host waits for it
  kAlloc,   // cudaMalloc, cudaHostAlloc, hipMalloc …: slow, through the driver
  kFree,    // … and back: waits for the device as well
};
CallClass class_of_call(std::string_view name);

// Operators that exist to bring a value to the host: aten::item and what it is made of.
bool reads_a_value(std::string_view op);

// class_of_call and reads_a_value by name id, each name looked at once.
class CallNames {
 public:
  explicit CallNames(const libtrace::Trace& trace)
      : trace_(trace), known_(trace.string_count()), value_(trace.string_count()) {}
  CallClass call(libtrace::EventId e) {
    return static_cast<CallClass>(look_up(trace_.name_id(e)) & 7U);
  }
  bool reads_value(libtrace::EventId e) { return (look_up(trace_.name_id(e)) & 8U) != 0; }

 private:
  std::uint8_t look_up(libtrace::StringId id);

  const libtrace::Trace& trace_;
  std::vector<bool> known_;
  std::vector<std::uint8_t> value_;
};

}  // namespace traceglass
