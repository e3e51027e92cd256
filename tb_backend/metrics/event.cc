#include "tb_backend/metrics/event.h"

#include <bit>
#include <cmath>
#include <optional>

#include "tb_backend/metrics/wire.h"

namespace traceglass {
namespace {

// Field numbers of tensorboard/compat/proto: event, summary, tensor, tensor_shape.
namespace event_field {
constexpr std::uint32_t kWallTime = 1, kStep = 2, kSummary = 5, kSessionLog = 7;
}
namespace value_field {
constexpr std::uint32_t kTag = 1, kSimpleValue = 2, kOldHistogram = 3, kImage = 4, kHistogram = 5,
                        kAudio = 6, kTensor = 8, kMetadata = 9;
}
namespace tensor_field {
constexpr std::uint32_t kDtype = 1, kShape = 2, kContent = 4, kFloat = 5, kDouble = 6, kInt = 7,
                        kInt64 = 10, kBool = 11, kHalf = 13, kUint32 = 16, kUint64 = 17;
}
enum Dtype : std::uint8_t {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kHalf = 19,
  kUint32 = 22,
  kUint64 = 23,
};

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const double fraction = bits & 0x3FF;
  double value = 0;
  if (exponent == 0x1F) {
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  } else {
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

double from_float(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

double from_bfloat16(std::uint16_t bits) { return from_float(std::uint64_t{bits} << 16); }

template <class T>
std::optional<T> whole(std::string_view content) {
  T value{};
  if (content.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, content.data(), sizeof value);
  return value;
}

template <class T>
std::optional<double> number(std::string_view content) {
  const auto value = whole<T>(content);
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

// tensor_content: one element as it lies in memory.
std::optional<double> from_content(std::uint64_t dtype, std::string_view content) {
  switch (dtype) {
    case kFloat:
      return number<float>(content);
    case kDouble:
      return number<double>(content);
    case kInt32:
      return number<std::int32_t>(content);
    case kUint8:
    case kBool:
      return number<std::uint8_t>(content);
    case kInt16:
      return number<std::int16_t>(content);
    case kInt8:
      return number<std::int8_t>(content);
    case kInt64:
      return number<std::int64_t>(content);
    case kUint16:
      return number<std::uint16_t>(content);
    case kUint32:
      return number<std::uint32_t>(content);
    case kUint64:
      return number<std::uint64_t>(content);
    case kHalf:
      if (const auto bits = whole<std::uint16_t>(content)) return from_half(*bits);
      return std::nullopt;
    case kBfloat16:
      if (const auto bits = whole<std::uint16_t>(content)) return from_bfloat16(*bits);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// The one element of a *_val field, packed or not; nullopt when there are more or none.
std::optional<std::uint64_t> element(const Wire& wire, Wire::Type type) {
  if (wire.is(tensor_field::kFloat, type) || wire.is(tensor_field::kDouble, type)) {
    return wire.number();
  }
  const std::string_view packed = wire.bytes();
  if (type == Wire::kFixed32) return whole<std::uint32_t>(packed);
  if (type == Wire::kFixed64) return whole<std::uint64_t>(packed);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < packed.size() && i < 10; ++i) {
    const auto b = static_cast<unsigned char>(packed[i]);
    value |= std::uint64_t{b & 0x7FU} << (7 * i);
    if (b < 0x80) return i + 1 == packed.size() ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

bool has_one_element(std::string_view shape) {
  Wire wire(shape);
  while (wire.next()) {
    if (!wire.is(2, Wire::kBytes)) continue;  // dim
    Wire dim(wire.bytes());
    std::uint64_t size = 0;
    while (dim.next()) {
      if (dim.is(1, Wire::kVarint)) size = dim.number();
    }
    if (size != 1) return false;
  }
  return wire.ok();
}

std::optional<double> typed_value(const Wire& wire, std::uint64_t dtype) {
  const auto varint = [&](std::uint32_t field) -> std::optional<std::uint64_t> {
    if (wire.is(field, Wire::kVarint)) return wire.number();
    if (wire.is(field, Wire::kBytes)) return element(wire, Wire::kVarint);
    return std::nullopt;
  };
  if (wire.is(tensor_field::kFloat, Wire::kFixed32)) return from_float(wire.number());
  if (wire.is(tensor_field::kDouble, Wire::kFixed64)) return std::bit_cast<double>(wire.number());
  if (wire.is(tensor_field::kFloat, Wire::kBytes)) {
    const auto bits = element(wire, Wire::kFixed32);
    return bits ? std::optional(from_float(*bits)) : std::nullopt;
  }
  if (wire.is(tensor_field::kDouble, Wire::kBytes)) {
    const auto bits = element(wire, Wire::kFixed64);
    return bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
  }
  for (const std::uint32_t field : {tensor_field::kInt, tensor_field::kInt64}) {
    if (const auto v = varint(field)) return static_cast<double>(static_cast<std::int64_t>(*v));
  }
  for (const std::uint32_t field :
       {tensor_field::kBool, tensor_field::kUint32, tensor_field::kUint64}) {
    if (const auto v = varint(field)) return static_cast<double>(*v);
  }
  if (const auto v = varint(tensor_field::kHalf)) {
    const auto bits = static_cast<std::uint16_t>(*v);
    return dtype == kBfloat16 ? from_bfloat16(bits) : from_half(bits);
  }
  return std::nullopt;
}

// nullopt: not a single number.
std::optional<double> tensor_value(std::string_view tensor) {
  std::uint64_t dtype = 0;
  std::optional<double> value;
  std::string_view content;
  Wire wire(tensor);
  while (wire.next()) {
    if (wire.is(tensor_field::kDtype, Wire::kVarint)) {
      dtype = wire.number();
    } else if (wire.is(tensor_field::kShape, Wire::kBytes)) {
      if (!has_one_element(wire.bytes())) return std::nullopt;
    } else if (wire.is(tensor_field::kContent, Wire::kBytes)) {
      content = wire.bytes();
    } else if (const auto typed = typed_value(wire, dtype)) {
      if (value) return std::nullopt;
      value = typed;
    }
  }
  if (!wire.ok()) return std::nullopt;
  return content.empty() ? value : from_content(dtype, content);
}

std::string_view plugin_of(std::string_view metadata) {
  std::string_view name;
  Wire wire(metadata);
  while (wire.next()) {
    if (!wire.is(1, Wire::kBytes)) continue;  // plugin_data
    Wire data(wire.bytes());
    while (data.next()) {
      if (data.is(1, Wire::kBytes)) name = data.bytes();
    }
  }
  return name;
}

bool read_value(std::string_view message, MetricValue& out) {
  out = {};
  Wire wire(message);
  while (wire.next()) {
    if (wire.is(value_field::kTag, Wire::kBytes)) {
      out.tag = wire.bytes();
    } else if (wire.is(value_field::kSimpleValue, Wire::kFixed32)) {
      out.kind = MetricKind::kScalar;
      out.value = from_float(wire.number());
    } else if (wire.is(value_field::kOldHistogram, Wire::kBytes) ||
               wire.is(value_field::kHistogram, Wire::kBytes)) {
      out.kind = MetricKind::kHistogram;
    } else if (wire.is(value_field::kImage, Wire::kBytes)) {
      out.kind = MetricKind::kImage;
    } else if (wire.is(value_field::kAudio, Wire::kBytes)) {
      out.kind = MetricKind::kAudio;
    } else if (wire.is(value_field::kTensor, Wire::kBytes)) {
      if (const auto value = tensor_value(wire.bytes())) {
        out.kind = MetricKind::kScalar;
        out.tensor = true;
        out.value = *value;
      }
    } else if (wire.is(value_field::kMetadata, Wire::kBytes)) {
      out.plugin = plugin_of(wire.bytes());
    }
  }
  return wire.ok();
}

bool is_session_start(std::string_view log) {
  Wire wire(log);
  std::uint64_t status = 0;
  while (wire.next()) {
    if (wire.is(1, Wire::kVarint)) status = wire.number();
  }
  return wire.ok() && status == 1;
}

}  // namespace

bool read_event(std::string_view record, MetricEvent& event) {
  event.wall_time = 0;
  event.step = 0;
  event.restart = false;
  event.values.clear();
  event.refused = 0;
  Wire wire(record);
  while (wire.next()) {
    if (wire.is(event_field::kWallTime, Wire::kFixed64)) {
      event.wall_time = std::bit_cast<double>(wire.number());
    } else if (wire.is(event_field::kStep, Wire::kVarint)) {
      event.step = static_cast<std::int64_t>(wire.number());
    } else if (wire.is(event_field::kSessionLog, Wire::kBytes)) {
      event.restart = event.restart || is_session_start(wire.bytes());
    } else if (wire.is(event_field::kSummary, Wire::kBytes)) {
      Wire summary(wire.bytes());
      while (summary.next()) {
        if (!summary.is(1, Wire::kBytes)) continue;
        if (event.values.size() >= kMostValues) {
          ++event.refused;
          continue;
        }
        if (!read_value(summary.bytes(), event.values.emplace_back())) return false;
      }
      if (!summary.ok()) return false;
    }
  }
  return wire.ok();
}

}  // namespace traceglass
