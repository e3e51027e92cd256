#include "libtrace/record/range_args.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "libtrace/record/json.h"

namespace libtrace::detail {
namespace {

// What the recorder writes itself.
bool is_own_key(std::string_view key) noexcept {
  for (const std::string_view own :
       {"External id", "Ev Idx", "finished", "Record function id", "Sequence number",
        "Fwd thread id", "Concrete Inputs", "Input type", "Input Strides", "Input Dims",
        "Call stack", "Module Hierarchy", "Begin thread id", "End thread id", "async", "stream",
        "correlation"}) {
    if (key == own) return true;
  }
  return false;
}

void append_numbers(std::string& out, const std::vector<std::int64_t>& numbers) {
  out += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0) out += ',';
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, numbers[i]).ptr);
  }
  out += ']';
}

struct ReadInput {
  Input::Kind kind = Input::Kind::kOther;
  std::string_view type, value;
  std::vector<std::int64_t> sizes, strides;

  void read(ByteReader& in) {
    const auto head = in.get<InputHead>();
    kind = head.kind;
    type = in.take(head.type_bytes);
    value = in.take(head.value_bytes);
    sizes.clear();
    strides.clear();
    if ((head.has & has::kSizes) != 0) {
      for (int i = 0; i < head.dims; ++i) sizes.push_back(in.get<std::int64_t>());
    }
    if ((head.has & has::kStrides) != 0) {
      for (int i = 0; i < head.dims; ++i) strides.push_back(in.get<std::int64_t>());
    }
  }
};

std::string_view type_name(const ReadInput& input) noexcept {
  switch (input.kind) {
    case Input::Kind::kTensor:
      return input.type;
    case Input::Kind::kTensorList:
      return "TensorList";
    case Input::Kind::kScalar:
      return "Scalar";
    case Input::Kind::kScalarList:
      return "ScalarList";
    case Input::Kind::kOther:
      break;
  }
  return input.type;
}

}  // namespace

void RangeArgs::learn_stack(const Payload& p) {
  if (!p.frames.empty()) frames_.emplace(p.stack_hash, p.frames);
}

void RangeArgs::add(const Payload& p, const SiteInfo* site) {
  if ((p.parts & part::kOrder) != 0) add_order(p);
  ByteReader in(p.rest);
  if ((p.parts & part::kInputs) != 0) add_inputs(in);
  if ((p.parts & part::kStack) != 0) add_stack(p.stack_hash, site);
  if ((p.parts & part::kArgs) != 0) add_user_args(in);
}

void RangeArgs::add_order(const Payload& p) {
  builder_.arg(key_function_id_, Value::integer(0));
  if (p.sequence_number < 0) return;
  builder_.arg(key_sequence_, Value::integer(p.sequence_number));
  builder_.arg(key_forward_thread_, Value::integer(static_cast<std::int64_t>(p.forward_thread)));
}

void RangeArgs::add_inputs(ByteReader& in) {
  for (std::string* const json : {&dims_, &strides_, &types_, &values_}) *json = "[";
  const auto count = in.get<std::uint16_t>();
  ReadInput input, item;
  for (std::uint16_t i = 0; i < count; ++i) {
    if (i != 0) {
      for (std::string* const json : {&dims_, &strides_, &types_, &values_}) *json += ',';
    }
    input.read(in);
    types_ += json_quoted(type_name(input));
    values_ += json_quoted(input.value);
    if (input.kind != Input::Kind::kTensorList) {
      append_numbers(dims_, input.sizes);
      append_numbers(strides_, input.strides);
      continue;
    }
    dims_ += '[';
    strides_ += '[';
    const auto items = in.get<std::uint16_t>();
    for (std::uint16_t k = 0; k < items; ++k) {
      item.read(in);
      if (k != 0) dims_ += ',', strides_ += ',';
      append_numbers(dims_, item.sizes);
      append_numbers(strides_, item.strides);
    }
    dims_ += ']';
    strides_ += ']';
  }
  for (std::string* const json : {&dims_, &strides_, &types_, &values_}) *json += ']';
  builder_.arg(key_values_, Value::json(values_));
  builder_.arg(key_types_, Value::json(types_));
  builder_.arg(key_strides_, Value::json(strides_));
  builder_.arg(key_dims_, Value::json(dims_));
}

void RangeArgs::add_stack(std::uint64_t hash, const SiteInfo* site) {
  const auto found = frames_.find(hash);
  if (found == frames_.end()) return;
  const auto [it, fresh] = stack_texts_.try_emplace(Key{hash, site});
  if (fresh) it->second = stack_text(found->second, site);
  if (!it->second.empty()) builder_.arg(key_stack_, Value::string(it->second));
}

// Innermost first. The recorder's own frames are left out; a site knows its line, which replaces
// the frame of its function.
std::string RangeArgs::stack_text(std::string_view bytes, const SiteInfo* site) {
  std::vector<const Frame*> frames;
  bool within_recorder = true;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t address = 0;
    std::memcpy(&address, bytes.data() + at, sizeof address);
    const Frame& frame = symbols_.frame(address);
    // Beyond code that keeps no frame pointers there is no telling what was found.
    if (!frame.in_a_file) break;
    within_recorder = within_recorder && frame.function.starts_with("libtrace::");
    if (!within_recorder) frames.push_back(&frame);
  }
  std::string text;
  std::size_t first = 0;
  if (site != nullptr) {
    text = valid_utf8(std::string(site->file) + "(" + std::to_string(site->line) +
                      "): " + std::string(site->function));
    std::replace(text.begin(), text.end(), ';', '_');
    if (!frames.empty()) {
      const std::string& outer = frames[0]->function;
      const std::size_t name_end = outer.find('(');
      const std::string name = outer.substr(0, name_end);
      if (name == site->function || name.ends_with("::" + std::string(site->function))) first = 1;
    }
  }
  for (std::size_t i = first; i < frames.size(); ++i) {
    if (!text.empty()) text += ';';
    text += frames[i]->text;
  }
  return text;
}

void RangeArgs::add_user_args(ByteReader& in) {
  const auto count = in.get<std::uint16_t>();
  std::vector<std::string> seen;
  for (std::uint16_t i = 0; i < count; ++i) {
    Value value;
    const auto head = in.get<ArgHead>();
    value.type = head.type;
    value.u = head.number;
    std::string key = valid_utf8(in.take(head.key_bytes));
    const std::string text = valid_utf8(in.take(head.text_bytes));
    value.text = text;
    if (value.type == Value::Type::kJson && !is_json(text)) value.type = Value::Type::kString;
    if (value.type == Value::Type::kDouble && !std::isfinite(value.d)) value = Value::null();
    if (is_own_key(key) || std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    builder_.arg(key, value);
    seen.push_back(std::move(key));
  }
}

}  // namespace libtrace::detail
