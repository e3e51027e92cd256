// What a record carries beyond its name, as the arguments that torch writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libtrace/record/payload.h"
#include "libtrace/record/site.h"
#include "libtrace/record/symbols.h"
#include "libtrace/trace_builder.h"

namespace libtrace::detail {

class RangeArgs {
 public:
  explicit RangeArgs(TraceBuilder& builder) : builder_(builder) {}

  // The frames behind hashes that later records name alone. Before any add().
  void learn_stack(const Payload& payload);
  // Adds the arguments of the row to come. `site`: where the range stands, if that is known.
  void add(const Payload& payload, const SiteInfo* site);

 private:
  void add_order(const Payload& payload);
  void add_stack(std::uint64_t hash, const SiteInfo* site);
  void add_inputs(ByteReader& in);
  void add_user_args(ByteReader& in);
  std::string stack_text(std::string_view frames, const SiteInfo* site);

  TraceBuilder& builder_;
  Symbolizer symbols_;
  std::unordered_map<std::uint64_t, std::string_view> frames_;  // by hash
  struct Key {
    std::uint64_t hash;
    const SiteInfo* site;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const noexcept {
      return k.hash ^ reinterpret_cast<std::uintptr_t>(k.site);
    }
  };
  std::unordered_map<Key, std::string, KeyHash> stack_texts_;
  std::string dims_, strides_, types_, values_;  // JSON under construction

  const StringId key_function_id_ = builder_.intern("Record function id");
  const StringId key_sequence_ = builder_.intern("Sequence number");
  const StringId key_forward_thread_ = builder_.intern("Fwd thread id");
  const StringId key_values_ = builder_.intern("Concrete Inputs");
  const StringId key_types_ = builder_.intern("Input type");
  const StringId key_strides_ = builder_.intern("Input Strides");
  const StringId key_dims_ = builder_.intern("Input Dims");
  const StringId key_stack_ = builder_.intern("Call stack");
};

}  // namespace libtrace::detail
