// The operators that a thread has begun and not ended. Torch gives an observer two calls and no
// place of its own but an object on the heap; this is that place, at the price of a few stores.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libtrace/range.h"

namespace libtrace::torch_adapter {

struct OpenOp {
  OpenRange* range = nullptr;
  bool is_async = false;
};

class OpenOps {
 public:
  // nullptr: no memory.
  static OpenOps* of_this_thread() noexcept;

  // `key`: of this operator alone as long as it is open. False: too deep, it is not kept.
  bool push(const void* key, OpenOp op) noexcept;
  // False: it is not here.
  bool pop(const void* key, OpenOp& op) noexcept;
  // The same of an operator that another thread began, which may have ended since.
  static bool take_elsewhere(const void* key, OpenOp& op) noexcept;

 private:
  static constexpr std::size_t kDeepest = 256;

  // Its thread alone fills it; whoever ends the operator, on whatever thread, empties it. Nobody
  // else touches `key` in between, since an operator ends once: no exchange is needed.
  struct Entry {
    std::atomic<const void*> key{nullptr};
    std::atomic<OpenRange*> range{nullptr};
    std::atomic<bool> is_async{false};

    bool take(const void* wanted, OpenOp& op) noexcept;
  };

  static OpenOps* make() noexcept;
  static void destroy(void* ops) noexcept;
  [[nodiscard]] bool has_open_async() const noexcept;
  void unlink() noexcept;

  std::atomic<std::size_t> depth_{0};
  std::array<Entry, kDeepest> entries_;
  OpenOps *next_ = nullptr, **link_ = nullptr;  // in the list of all threads'
  bool ended_ = false;                          // its thread has; under the list's lock
};

}  // namespace libtrace::torch_adapter
