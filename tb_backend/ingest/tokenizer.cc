#include "tb_backend/ingest/tokenizer.h"

#include <simdjson.h>

#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "tb_backend/ingest/numbers.h"
#include "tb_backend/ingest/row_shapes.h"
#include "tb_backend/ingest/text.h"

namespace traceglass {

using libtrace::Value;
namespace ondemand = simdjson::ondemand;
static_assert(Tokenizer::kPadding >= simdjson::SIMDJSON_PADDING);

namespace {

std::string_view trimmed(std::string_view token) noexcept {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' ||
                            token.back() == '\t')) {
    token.remove_suffix(1);
  }
  return token;
}

// Whether looking for shapes is worth it: a file of ever new ones is better read block by block.
class ShapeLuck {
 public:
  void count(bool hit) {
    hits_ += hit ? 1 : 0;
    if (++rows_ < 4096) return;
    pause_ = hits_ < rows_ / 2 ? 32 : 0;  // blocks
    hits_ = rows_ = 0;
  }
  bool pays() { return pause_ == 0 || --pause_ == 0; }

 private:
  int hits_ = 0, rows_ = 0, pause_ = 0;
};

}  // namespace

struct Tokenizer::Impl {
  ondemand::parser parser;
  RowShapes shapes;
  ShapeLuck luck;
  RawEvent event;
  std::deque<std::string> scratch;  // decoded strings of the current row
  std::size_t scratch_used = 0;

  std::string& next_scratch() {
    if (scratch_used == scratch.size()) scratch.emplace_back();
    return scratch[scratch_used++];
  }

  // The text of a string token (with its quotes).
  bool text(std::string_view token, std::string_view& out) {
    if (token.size() < 2 || token.back() != '"') return false;
    out = token.substr(1, token.size() - 2);
    if (std::memchr(out.data(), '\\', out.size()) != nullptr) {
      std::string& decoded = next_scratch();
      if (decode_string(out, decoded)) event.repaired = true;
      out = decoded;
    }
    return true;
  }

  // A string's text or another scalar's token.
  bool scalar(ondemand::value& value, std::string_view& out) {
    const std::string_view token = trimmed(value.raw_json_token());
    if (token[0] == '"') return text(token, out);
    out = token;
    return token[0] != '{' && token[0] != '[';
  }

  bool value(ondemand::value& v, Value& out) {
    const std::string_view token = trimmed(v.raw_json_token());
    switch (token[0]) {
      case '"':
        out.type = Value::Type::kString;
        return text(token, out.text);
      case '{': {
        ondemand::object object;
        std::string_view json;
        if (v.get_object().get(object) || object.raw_json().get(json)) return false;
        out = Value::json(trimmed(json));
        return true;
      }
      case '[': {
        ondemand::array array;
        std::string_view json;
        if (v.get_array().get(array) || array.raw_json().get(json)) return false;
        out = Value::json(trimmed(json));
        return true;
      }
      case 't':
        out = Value::boolean(true);
        return token == "true";
      case 'f':
        out = Value::boolean(false);
        return token == "false";
      case 'n':
        out = Value::null();
        return token == "null";
      default:
        return json_number(token, out);
    }
  }

  bool key(ondemand::field& field, std::string_view& out) {
    const char* begin = field.key().raw();
    const char* end = begin;
    while (*end != '"') end += *end == '\\' ? 2 : 1;
    out = {begin, static_cast<std::size_t>(end - begin)};
    if (std::memchr(begin, '\\', out.size()) == nullptr) return true;
    std::string& decoded = next_scratch();
    if (decode_string(out, decoded)) event.repaired = true;
    out = decoded;
    return true;
  }

  bool collect(ondemand::object& object, std::vector<std::pair<std::string_view, Value>>& out) {
    for (auto entry : object) {
      ondemand::field field;
      if (std::move(entry).get(field)) return false;
      out.emplace_back();
      if (!key(field, out.back().first)) return false;
      if (!value(field.value(), out.back().second)) return false;
    }
    return true;
  }

  bool member(std::string_view name, ondemand::value& v) {
    switch (name.size()) {
      case 2:
        if (name == "ph") return scalar(v, event.ph);
        if (name == "ts") return scalar(v, event.ts);
        if (name == "id") return scalar(v, event.id);
        break;
      case 3:
        if (name == "cat") return scalar(v, event.cat);
        if (name == "pid") return scalar(v, event.pid);
        if (name == "tid") return scalar(v, event.tid);
        if (name == "dur") return scalar(v, event.dur);
        break;
      case 4:
        if (name == "name") return scalar(v, event.name);
        if (name == "args") {
          const std::string_view token = trimmed(v.raw_json_token());
          if (token[0] != '{') return token == "null" || token[0] == '"' || token[0] == '[';
          ondemand::object object;
          return !v.get_object().get(object) && collect(object, event.args);
        }
        break;
      default:
        break;
    }
    return true;  // a field that no row needs
  }

  // The fields of one row; false when it is not what a row looks like.
  bool read(ondemand::object& object) {
    event.clear();
    scratch_used = 0;
    for (auto entry : object) {
      ondemand::field field;
      std::string_view name;
      if (std::move(entry).get(field)) return false;
      if (!key(field, name) || !member(name, field.value())) return false;
    }
    return true;
  }
};

Tokenizer::Tokenizer() : impl_(std::make_unique<Impl>()) {}
Tokenizer::~Tokenizer() = default;

Tokenizer::Result Tokenizer::rows(char* text, std::size_t size, EventSink& sink) {
  return impl_->luck.pays() ? by_shape(text, size, sink) : by_simdjson(text, size, sink);
}

Tokenizer::Result Tokenizer::by_shape(const char* text, std::size_t size, EventSink& sink) {
  const char* p = text;
  const char* const end = text + size;
  const auto skip_space = [&] {
    while (p != end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
  };
  for (skip_space(); p != end; skip_space()) {
    if (*p != '{') return {Result::Stop::kBadEvent, p};
    if (const char* behind = impl_->shapes.read(p, end, impl_->event)) {
      impl_->luck.count(true);
      if (!sink.event(impl_->event)) return {Result::Stop::kBadEvent, p};
      p = behind;
    } else {
      impl_->luck.count(false);
      const std::size_t n = object_end({p, static_cast<std::size_t>(end - p)});
      if (n == 0 || !row(p, n, sink)) return {Result::Stop::kBadEvent, p};
      impl_->shapes.learn({p, n});
      p += n;
    }
    skip_space();
    if (p == end) break;
    if (*p == ']') return {Result::Stop::kArrayEnd, p + 1};
    if (*p != ',') return {Result::Stop::kBadEvent, p};
    ++p;
  }
  return {Result::Stop::kAll, end};
}

Tokenizer::Result Tokenizer::by_simdjson(char* text, std::size_t size, EventSink& sink) {
  const char before = text[-1], after = text[size];
  text[-1] = '[';
  text[size] = ']';
  struct Restore {
    char *first, *last;
    char before, after;
    ~Restore() {
      *first = before;
      *last = after;
    }
  } const restore{text - 1, text + size, before, after};

  const simdjson::padded_string_view json(text - 1, size + 2, size + 2 + kPadding);
  ondemand::document document;
  ondemand::array array;
  if (impl_->parser.iterate(json).get(document) || document.get_array().get(array)) {
    return {Result::Stop::kBadEvent, text};
  }
  const char* delivered = nullptr;  // start of the last row that was taken
  const auto next_row = [&] {
    if (delivered == nullptr) return static_cast<const char*>(text);
    const auto left = static_cast<std::size_t>(text + size - delivered);
    return delivered + object_end({delivered, left});
  };
  for (auto element : array) {
    ondemand::value value;
    ondemand::object object;
    if (std::move(element).get(value)) return {Result::Stop::kBadEvent, next_row()};
    const char* start = std::string_view(value.raw_json_token()).data();
    if (value.get_object().get(object) || !impl_->read(object) || !sink.event(impl_->event)) {
      return {Result::Stop::kBadEvent, start};
    }
    delivered = start;
  }
  const char* behind = nullptr;
  if (document.current_location().get(behind)) return {Result::Stop::kAll, text + size};
  while (behind[-1] != ']') --behind;
  return {Result::Stop::kArrayEnd, behind};
}

bool Tokenizer::row(const char* text, std::size_t size, EventSink& sink) {
  const simdjson::padded_string_view json(text, size, size + kPadding);
  ondemand::document document;
  ondemand::object object;
  if (impl_->parser.iterate(json).get(document) || document.get_object().get(object)) return false;
  return impl_->read(object) && sink.event(impl_->event);
}

bool Tokenizer::object_members(std::string_view json,
                               std::vector<std::pair<std::string_view, Value>>& out) {
  const simdjson::padded_string copy(json);
  // Texts must outlive the copy: they point into `json`, moved over by their offset.
  ondemand::document document;
  ondemand::object object;
  impl_->scratch_used = 0;
  if (impl_->parser.iterate(copy).get(document) || document.get_object().get(object)) return false;
  if (!impl_->collect(object, out)) return false;
  const auto rebase = [&](std::string_view& text) {
    const auto offset = reinterpret_cast<std::uintptr_t>(text.data()) -
                        reinterpret_cast<std::uintptr_t>(copy.data());
    if (offset < copy.size()) text = json.substr(offset, text.size());
  };
  for (auto& [key, value] : out) {
    rebase(key);
    rebase(value.text);
  }
  return true;
}

bool Tokenizer::elements(std::string_view json, std::vector<std::string_view>& out) {
  const simdjson::padded_string copy(json);
  ondemand::document document;
  ondemand::array array;
  if (impl_->parser.iterate(copy).get(document) || document.get_array().get(array)) return false;
  for (auto element : array) {
    ondemand::value value;
    Value v;
    if (std::move(element).get(value) || !impl_->value(value, v)) return false;
    if (v.type != Value::Type::kJson) continue;
    out.push_back(
        json.substr(static_cast<std::size_t>(v.text.data() - copy.data()), v.text.size()));
  }
  return true;
}

std::size_t object_end(std::string_view text) noexcept {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) {
          if (text[i] == '\\') ++i;
        }
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return i + 1;
        break;
      default:
        break;
    }
  }
  return 0;
}

}  // namespace traceglass
