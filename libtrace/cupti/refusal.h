// Why there is no GPU work in a trace, and what a user can do about it: a sentence each.
#pragma once

#include <string>
#include <string_view>

#include "libtrace/cupti/abi.h"

namespace libtrace::cupti {

struct Refusal {
  std::string why;     // metadata `cupti_error`
  std::string advice;  // metadata `cupti_advice`
  explicit operator bool() const noexcept { return !why.empty(); }
};

Refusal no_driver(std::string_view detail);
Refusal driver_failed(std::string_view call, Result code);
Refusal no_device();
// `tried`: why each candidate was not taken.
Refusal no_cupti(int driver_version, std::string_view tried);
Refusal wrong_library(std::string_view path, std::string_view detail);
Refusal too_old(std::string_view path, unsigned api_version);
// A call of CUPTI itself; `other`: who is subscribed already, where CUPTI says so.
Refusal cupti_failed(std::string_view call, Result code, std::string_view code_name,
                     std::string_view other = {});
Refusal forked();

}  // namespace libtrace::cupti
