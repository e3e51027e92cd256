#include "libtrace/trace.h"

#include <cmath>
#include <cstring>

#include "libtrace/model/args.h"
#include "libtrace/model/whole_number.h"

namespace libtrace {
namespace {

std::string_view known_text(const Trace& trace, StringId id) {
  return trace.text(id < trace.string_count() ? id : 0);
}

template <typename... Columns>
std::size_t bytes_of(const Columns&... columns) {
  return (columns.bytes() + ...);
}

}  // namespace

std::vector<Trace::Arg> Trace::args_at(std::uint32_t offset) const {
  std::vector<Arg> out;
  args_at(offset, out);
  return out;
}

void Trace::args_at(std::uint32_t offset, std::vector<Arg>& out) const {
  out.clear();
  args::each(d_.arg_bytes, offset, [&](StringId key, const Value& value, StringId text) {
    auto& [its_key, its_value] = out.emplace_back();
    its_key = known_text(*this, key);
    // Part by part: a copy of the whole would wait for the parts that were just stored.
    its_value.type = value.type;
    std::memcpy(&its_value.i, &value.i, sizeof value.i);
    its_value.text = known_text(*this, text);
    return false;
  });
}

std::optional<Value> Trace::arg(EventId e, std::string_view key) const {
  std::optional<Value> found;
  // Only the one asked for has its text looked up.
  args::each(d_.arg_bytes, d_.args[e], [&](StringId k, const Value& value, StringId text) {
    if (known_text(*this, k) != key) return false;
    found.emplace();
    found->type = value.type;
    std::memcpy(&found->i, &value.i, sizeof value.i);
    found->text = known_text(*this, text);
    return true;
  });
  return found;
}

std::optional<std::int64_t> Trace::int_arg(EventId e, std::string_view key) const {
  const std::optional<Value> v = arg(e, key);
  if (!v) return std::nullopt;
  switch (v->type) {
    case Value::Type::kBool:
    case Value::Type::kInt:
      return v->i;
    case Value::Type::kDouble:
      if (std::abs(v->d) < 9e15 && v->d == std::floor(v->d)) return static_cast<std::int64_t>(v->d);
      return std::nullopt;
    case Value::Type::kString:
      return whole_number<std::int64_t>(v->text);
    default:
      return std::nullopt;
  }
}

std::optional<double> Trace::number_arg(EventId e, std::string_view key) const {
  const std::optional<Value> v = arg(e, key);
  if (!v) return std::nullopt;
  switch (v->type) {
    case Value::Type::kInt:
      return static_cast<double>(v->i);
    case Value::Type::kUint:
      return static_cast<double>(v->u);
    case Value::Type::kDouble:
      return v->d;
    case Value::Type::kString: {
      const std::optional<double> n = whole_number<double>(v->text);
      return n && std::isfinite(*n) ? n : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

const std::string* Trace::metadata(std::string_view key) const noexcept {
  for (const auto& [name, json] : d_.metadata) {
    if (name == key) return &json;
  }
  return nullptr;
}

std::size_t Trace::resident_bytes() const noexcept {
  return bytes_of(d_.start, d_.dur, d_.self, d_.name, d_.lane, d_.parent, d_.launch, d_.owner,
                  d_.anchor, d_.order, d_.args, d_.category, d_.depth, d_.flags, d_.kind,
                  d_.arg_bytes, d_.string_data, d_.string_offset, d_.instants, d_.memory,
                  d_.flows) +
         d_.lanes.capacity() * sizeof(Lane);
}

}  // namespace libtrace
