// Fills a function table by name, and remembers what it did not find.
#pragma once

#include <dlfcn.h>

#include <string>

namespace libtrace::cupti {

class FunctionFinder {
 public:
  explicit FunctionFinder(void* library) : library_(library) {}

  template <class F>
  void optional(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library_, name));
  }
  template <class F>
  void required(const char* name, F& function) {
    optional(name, function);
    if (function != nullptr) return;
    if (!missing_.empty()) missing_ += ", ";
    missing_ += name;
  }
  // Names of required functions that are not there; "" when all are.
  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

}  // namespace libtrace::cupti
