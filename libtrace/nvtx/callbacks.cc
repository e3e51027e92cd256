#include "libtrace/nvtx/callbacks.h"

#include <atomic>
#include <charconv>
#include <cstring>
#include <string_view>

#include "libtrace/nvtx/names.h"
#include "libtrace/nvtx/open_ranges.h"

namespace libtrace::nvtx {
namespace {

constinit std::atomic<const RecorderTable*> recorder{nullptr};
constinit std::atomic<RangeObserver> range_observer{nullptr};

// The recorder, while it records.
const RecorderTable* active() noexcept {
  const RecorderTable* const table = recorder.load(std::memory_order_acquire);
  return table != nullptr && table->recording->load(std::memory_order_relaxed) != 0 ? table
                                                                                    : nullptr;
}

Range range_named(std::string_view name) noexcept {
  Range range{};
  range.name = text_of(name);
  return range;
}
std::string_view view_of(const char* text) noexcept {
  return text != nullptr ? std::string_view(text) : std::string_view();
}

// What an EventAttributes says, with the memory its texts need.
class Event {
 public:
  Event(const Name* domain, const EventAttributes* given) noexcept {
    if (domain != nullptr) range_.domain = text_of(domain->text);
    if (given == nullptr) return;
    // An older program's struct is shorter, a newer one's longer.
    EventAttributes e{};
    std::memcpy(&e, given, given->size < sizeof e ? given->size : sizeof e);
    set_message(e);
    set_category(domain, e.category);
    set_payload(e);
  }
  [[nodiscard]] const Range& range() const noexcept { return range_; }

 private:
  void set_message(const EventAttributes& e) noexcept {
    if (e.message.ascii == nullptr) return;
    switch (e.message_type) {
      case kAscii:
        range_.name = text_of(e.message.ascii);
        break;
      case kUnicode:
        narrow_.assign(e.message.unicode);
        range_.name = text_of(narrow_.view());
        break;
      case kRegistered:
        range_.name = text_of(static_cast<const Name*>(e.message.registered)->text);
        break;
      default:
        break;
    }
  }

  void set_category(const Name* domain, std::uint32_t category) noexcept {
    if (category == 0) return;
    const std::string_view name = category_name(domain, category);
    if (!name.empty()) {
      range_.category = text_of(name);
      return;
    }
    const auto [end, error] = std::to_chars(number_, number_ + sizeof number_, category);
    range_.category = {number_, static_cast<std::size_t>(end - number_)};
  }

  void set_payload(const EventAttributes& e) noexcept {
    const auto set = [this](PayloadKind kind, auto& to, auto value) {
      range_.payload_kind = kind;
      to = value;
    };
    switch (e.payload_type) {
      case kUint64:
        return set(PayloadKind::kUint, range_.payload.u, e.payload.u64);
      case kUint32:
        return set(PayloadKind::kUint, range_.payload.u, e.payload.u32);
      case kInt64:
        return set(PayloadKind::kInt, range_.payload.i, e.payload.i64);
      case kInt32:
        return set(PayloadKind::kInt, range_.payload.i, e.payload.i32);
      case kDouble:
        return set(PayloadKind::kDouble, range_.payload.d, e.payload.f64);
      case kFloat:
        return set(PayloadKind::kDouble, range_.payload.d, e.payload.f32);
      default:
        return;
    }
  }

  Range range_{};
  char number_[12];
  Narrow narrow_;
};

void tell_observer(const Range& range) noexcept {
  if (const RangeObserver observer = range_observer.load(std::memory_order_acquire)) {
    observer(range.name);
  }
}

int push(const void* domain, const Range& range) noexcept {
  tell_observer(range);
  const RecorderTable* const table = active();
  OpenRange* slot = nullptr;
  const int level = push_range(domain, slot);
  if (table == nullptr) return level;
  if (slot != nullptr) {
    *slot = {table, table->push(&range)};
  } else {
    table->drop();
  }
  return level;
}

int pop(const void* domain) noexcept {
  const Popped popped = pop_range(domain);
  if (popped.range.handle != nullptr) popped.range.recorder->pop(popped.range.handle);
  return popped.level;
}

RangeId start(const Range& range) noexcept {
  tell_observer(range);
  const RecorderTable* const table = active();
  if (table == nullptr) return 0;
  const RangeId id = reserve_range();
  if (id == 0) {
    table->drop();
    return 0;
  }
  fill_range(id, {table, table->start(&range)});
  return id;
}

void end(RangeId id) noexcept {
  const OpenRange range = take_range(id);
  if (range.handle != nullptr) range.recorder->end(range.handle);
}

void mark(const Range& range) noexcept {
  if (const RecorderTable* const table = active()) table->mark(&range);
}

// -- the functions themselves, by module and id

void mark_ex(const EventAttributes* e) noexcept { mark(Event(nullptr, e).range()); }
void mark_a(const char* m) noexcept { mark(range_named(view_of(m))); }
void mark_w(const wchar_t* m) noexcept { mark(range_named(Narrow(m).view())); }
RangeId range_start_ex(const EventAttributes* e) noexcept {
  return start(Event(nullptr, e).range());
}
RangeId range_start_a(const char* m) noexcept { return start(range_named(view_of(m))); }
RangeId range_start_w(const wchar_t* m) noexcept { return start(range_named(Narrow(m).view())); }
void range_end(RangeId id) noexcept { end(id); }
int range_push_ex(const EventAttributes* e) noexcept {
  return push(nullptr, Event(nullptr, e).range());
}
int range_push_a(const char* m) noexcept { return push(nullptr, range_named(view_of(m))); }
int range_push_w(const wchar_t* m) noexcept { return push(nullptr, range_named(Narrow(m).view())); }
int range_pop() noexcept { return pop(nullptr); }
void name_category_a(std::uint32_t category, const char* name) noexcept {
  name_category(nullptr, category, view_of(name));
}
void name_category_w(std::uint32_t category, const wchar_t* name) noexcept {
  name_category(nullptr, category, Narrow(name).view());
}

void domain_mark_ex(const Name* d, const EventAttributes* e) noexcept { mark(Event(d, e).range()); }
RangeId domain_range_start_ex(const Name* d, const EventAttributes* e) noexcept {
  return start(Event(d, e).range());
}
void domain_range_end(const Name*, RangeId id) noexcept { end(id); }
int domain_range_push_ex(const Name* d, const EventAttributes* e) noexcept {
  return push(d, Event(d, e).range());
}
int domain_range_pop(const Name* d) noexcept { return pop(d); }
void domain_name_category_a(const Name* d, std::uint32_t category, const char* name) noexcept {
  name_category(d, category, view_of(name));
}
void domain_name_category_w(const Name* d, std::uint32_t category, const wchar_t* name) noexcept {
  name_category(d, category, Narrow(name).view());
}
const Name* domain_register_string_a(const Name*, const char* s) noexcept {
  return registered_string(view_of(s));
}
const Name* domain_register_string_w(const Name*, const wchar_t* s) noexcept {
  return registered_string(Narrow(s).view());
}
const Name* domain_create_a(const char* name) noexcept { return domain_of_name(view_of(name)); }
const Name* domain_create_w(const wchar_t* name) noexcept {
  return domain_of_name(Narrow(name).view());
}

class Table {
 public:
  Table(const ExportTableCallbacks& callbacks, int module) noexcept {
    if (callbacks.module_function_table(module, &table_, &size_) == 0) size_ = 0;
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  template <class F>
  void set(unsigned int id, F* function) const noexcept {
    if (id < size_ && table_[id] != nullptr) {
      *table_[id] = reinterpret_cast<FunctionPointer>(function);
    }
  }

 private:
  FunctionTable table_ = nullptr;
  unsigned int size_ = 0;
};

void install_core(const Table& core) noexcept {
  core.set(kMarkEx, mark_ex);
  core.set(kMarkA, mark_a);
  core.set(kMarkW, mark_w);
  core.set(kRangeStartEx, range_start_ex);
  core.set(kRangeStartA, range_start_a);
  core.set(kRangeStartW, range_start_w);
  core.set(kRangeEnd, range_end);
  core.set(kRangePushEx, range_push_ex);
  core.set(kRangePushA, range_push_a);
  core.set(kRangePushW, range_push_w);
  core.set(kRangePop, range_pop);
  core.set(kNameCategoryA, name_category_a);
  core.set(kNameCategoryW, name_category_w);
}

void install_core2(const Table& core2) noexcept {
  core2.set(kDomainMarkEx, domain_mark_ex);
  core2.set(kDomainRangeStartEx, domain_range_start_ex);
  core2.set(kDomainRangeEnd, domain_range_end);
  core2.set(kDomainRangePushEx, domain_range_push_ex);
  core2.set(kDomainRangePop, domain_range_pop);
  core2.set(kDomainNameCategoryA, domain_name_category_a);
  core2.set(kDomainNameCategoryW, domain_name_category_w);
  core2.set(kDomainRegisterStringA, domain_register_string_a);
  core2.set(kDomainRegisterStringW, domain_register_string_w);
  core2.set(kDomainCreateA, domain_create_a);
  core2.set(kDomainCreateW, domain_create_w);
}

}  // namespace

bool install_callbacks(GetExportTable get_export_table) noexcept {
  if (get_export_table == nullptr) return false;
  const auto* const callbacks =
      static_cast<const ExportTableCallbacks*>(get_export_table(kCallbacksTable));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return false;
  const Table core(*callbacks, kCoreModule), core2(*callbacks, kCore2Module);
  install_core(core);
  install_core2(core2);
  return !core.empty() || !core2.empty();
}

void set_recorder(const RecorderTable* table) noexcept {
  recorder.store(table, std::memory_order_release);
}

void set_range_observer(RangeObserver observer) noexcept {
  range_observer.store(observer, std::memory_order_release);
}

}  // namespace libtrace::nvtx
