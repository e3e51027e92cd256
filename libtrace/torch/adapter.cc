#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "libtrace/range.h"
#include "libtrace/record/window_hook.h"
#include "libtrace/torch.h"
#include "libtrace/torch/inputs.h"
#include "libtrace/torch/memory.h"
#include "libtrace/torch/open_ops.h"

namespace libtrace {
namespace {

using namespace torch_adapter;

// Operators whose allocations torch's own profiler takes.
std::atomic<std::uint64_t> memory_conflicts{0};

// Beyond OpenOps' depth.
struct DeepOp final : at::ObserverContext {
  OpenOp op;
};

OpenOp begin_op(const at::RecordFunction& fn, const RangeDetails& details, bool has_details) {
  const RecordScope scope =
      fn.scope() == at::RecordScope::USER_SCOPE ? RecordScope::kUserScope : RecordScope::kFunction;
  if (fn.isAsync()) return {begin_async_range(fn.name(), scope, details), true};
  if (has_details) return {begin_range(fn.name(), scope, details), false};
  return {detail::begin_scope(fn.name(), scope), false};
}

template <bool kWithInputs>
std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& fn) {
  OpenOps* const ops = OpenOps::of_this_thread();
  if (ops == nullptr) return nullptr;
  if (wants(Detail::kMemory) && !watch_memory_here()) {
    memory_conflicts.fetch_add(1, std::memory_order_relaxed);
  }
  RangeDetails details;
  if (fn.seqNr() >= 0) {
    details.sequence_number = fn.seqNr();
    details.thread = fn.threadId();
    details.forward_thread = fn.forwardThreadId();
  }
  if (kWithInputs) {
    if (Inputs* const inputs = Inputs::of_this_thread()) inputs->read(fn.inputs(), details);
  }
  const OpenOp op = begin_op(fn, details, kWithInputs || fn.seqNr() >= 0);
  if (ops->push(&fn, op)) return nullptr;
  auto deep = std::make_unique<DeepOp>();
  deep->op = op;
  return deep;
}

void on_end(const at::RecordFunction& fn, at::ObserverContext* context) {
  OpenOp op;
  if (context != nullptr) {
    op = static_cast<DeepOp*>(context)->op;
  } else {
    OpenOps* const ops = OpenOps::of_this_thread();
    const bool here = ops != nullptr && ops->pop(&fn, op);
    if (!here && (fn.threadId() == at::RecordFunction::currentThreadId() ||
                  !OpenOps::take_elsewhere(&fn, op))) {
      return;  // its begin found no memory
    }
  }
  if (op.is_async) {
    end_async_range(op.range);
  } else {
    end_range(op.range);
  }
}

// Torch asks once for all of an observer's operators whether it needs inputs: one observer that
// does and one that does not, of which a window switches on one.
class Switch {
 public:
  void add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (plain_ != at::INVALID_CALLBACK_HANDLE) return;
    plain_ = at::addGlobalCallback(at::RecordFunctionCallback(on_begin<false>, on_end));
    at::disableCallback(plain_);
    with_inputs_ =
        at::addGlobalCallback(at::RecordFunctionCallback(on_begin<true>, on_end).needsInputs(true));
    at::disableCallback(with_inputs_);
  }

  void open(std::uint32_t mask) {
    const std::lock_guard<std::mutex> lock(mutex_);
    memory_conflicts.store(0, std::memory_order_relaxed);
    refused_ = torch_profiles_here();
    if (refused_ || (mask & static_cast<std::uint32_t>(Detail::kRanges)) == 0) return;
    on_ = (mask & static_cast<std::uint32_t>(Detail::kShapes)) != 0 ? with_inputs_ : plain_;
    at::reenableCallback(on_);
    if ((mask & static_cast<std::uint32_t>(Detail::kMemory)) != 0) watch_memory_here();
  }

  void close(detail::Notes& notes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (on_ != at::INVALID_CALLBACK_HANDLE) at::disableCallback(on_);
    on_ = at::INVALID_CALLBACK_HANDLE;
    leave_memory_here();
    const std::uint64_t conflicts = memory_conflicts.load(std::memory_order_relaxed);
    if (refused_) {
      notes.emplace_back("torch_adapter",
                         "\"not recorded: torch's own profiler was running on this thread\"");
    } else if (conflicts != 0) {
      notes.emplace_back("torch_adapter", "\"allocations within " + std::to_string(conflicts) +
                                              " operators went to torch's own profiler\"");
    }
  }

 private:
  std::mutex mutex_;
  at::CallbackHandle plain_ = at::INVALID_CALLBACK_HANDLE;
  at::CallbackHandle with_inputs_ = at::INVALID_CALLBACK_HANDLE;
  at::CallbackHandle on_ = at::INVALID_CALLBACK_HANDLE;
  bool refused_ = false;
};

// Never destroyed: windows may close while the process exits.
Switch& torch_switch() {
  static auto* const one = new Switch;
  return *one;
}

constexpr detail::WindowHook kHook = {
    [](std::uint32_t mask) noexcept {
      try {
        torch_switch().open(mask);
      } catch (const std::exception&) {
        return;  // torch refused: the window goes on without operators
      }
    },
    [](detail::Notes& notes) { torch_switch().close(notes); }};

}  // namespace

Status observe_torch() try {
  torch_switch().add();
  if (detail::add_window_hook(kHook)) return {};
  return Status::invalid_argument("Too many adapters");
} catch (const std::exception& e) {
  return Status::invalid_argument(std::string("libtorch refused its observer: ") + e.what());
}

}  // namespace libtrace
