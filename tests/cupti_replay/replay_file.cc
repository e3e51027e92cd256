#include "tests/cupti_replay/replay_file.h"

#include <algorithm>
#include <cstring>

#include "libtrace/cupti/layout.h"

namespace cupti_replay {
namespace {

using namespace libtrace::cupti;

constexpr char kMagic[8] = {'L', 'T', 'C', 'U', 'P', 'T', 'I', '1'};
constexpr std::uint32_t kMarker = 12;  // a kind that only a recording may have

const ReplayFile* replayed = nullptr;

void put(std::string& out, std::size_t value) {
  const auto v = static_cast<std::uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  const char* take(std::size_t n) {
    if (n > bytes_.size() - at_) {
      failed_ = true;
      return nullptr;
    }
    const char* const p = bytes_.data() + at_;
    at_ += n;
    return p;
  }
  std::uint32_t number() {
    std::uint32_t v = 0;
    if (const char* const p = take(sizeof v)) std::memcpy(&v, p, sizeof v);
    return v;
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

Result next_record(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  const auto size_of = [](const std::uint8_t* r) {
    const auto it = replayed->sizes.find(layout::read<std::uint32_t>(r, layout::kKind));
    return it == replayed->sizes.end() ? std::size_t{0} : std::size_t{it->second};
  };
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = *record + size_of(*record);
  const auto left = static_cast<std::size_t>(buffer + valid - next);
  if (next > buffer + valid || left < sizeof(ActivityKind)) return error::kMaxLimitReached;
  if (size_of(next) == 0) return error::kInvalidKind;
  if (size_of(next) > left) return error::kMaxLimitReached;
  *record = next;
  return kSuccess;
}

Result callback_name(std::uint32_t domain, std::uint32_t cbid, const char** name) {
  const auto it = replayed->callbacks.find({domain, cbid});
  if (it == replayed->callbacks.end()) return error::kInvalidParameter;
  *name = replayed->strings[it->second].c_str();
  return kSuccess;
}

}  // namespace

std::uint32_t ReplayFile::intern(const std::string& text) {
  const auto index =
      static_cast<std::size_t>(std::find(strings.begin(), strings.end(), text) - strings.begin());
  if (index == strings.size()) strings.push_back(text);
  return static_cast<std::uint32_t>(index);
}

std::vector<std::uint32_t> pointers_of(std::uint32_t kind, std::size_t size) {
  std::vector<std::uint32_t> offsets;
  switch (static_cast<ActivityKind>(kind)) {
    case ActivityKind::kKernel:
    case ActivityKind::kConcurrentKernel:
      offsets = {layout::kernel::kName};
      break;
    case ActivityKind::kMemory2:
      offsets = {layout::memory::kName, 120};  // the second: source, since 12.6
      break;
    default:
      if (kind == kMarker) offsets = {40, 48};
  }
  offsets.erase(std::remove_if(offsets.begin(), offsets.end(),
                               [&](std::uint32_t at) { return at + sizeof(void*) > size; }),
                offsets.end());
  return offsets;
}

std::string to_bytes(const ReplayFile& file) {
  std::string out(kMagic, sizeof kMagic);
  put(out, file.version);
  put(out, file.sizes.size());
  for (const auto& [kind, size] : file.sizes) {
    put(out, kind);
    put(out, size);
  }
  put(out, file.callbacks.size());
  for (const auto& [key, string] : file.callbacks) {
    put(out, key.first);
    put(out, key.second);
    put(out, string);
  }
  put(out, file.blocks.size());
  for (const Block& block : file.blocks) {
    put(out, block.bytes.size());
    out.append(reinterpret_cast<const char*>(block.bytes.data()), block.bytes.size());
    put(out, block.pointers.size());
    for (const auto& [offset, string] : block.pointers) {
      put(out, offset);
      put(out, string);
    }
  }
  put(out, file.strings.size());
  for (const std::string& s : file.strings) {
    put(out, s.size());
    out += s;
  }
  return out;
}

std::string from_bytes(const std::string& bytes, ReplayFile& file) {
  Reader in(bytes);
  const char* const magic = in.take(sizeof kMagic);
  if (magic == nullptr || std::memcmp(magic, kMagic, sizeof kMagic) != 0) {
    return "no recording of CUPTI";
  }
  file = {};
  file.version = in.number();
  for (std::uint32_t n = in.number(); n > 0 && !in.failed(); --n) {
    const std::uint32_t kind = in.number();
    file.sizes[kind] = in.number();
  }
  for (std::uint32_t n = in.number(); n > 0 && !in.failed(); --n) {
    const std::uint32_t domain = in.number(), cbid = in.number();
    file.callbacks[{domain, cbid}] = in.number();
  }
  for (std::uint32_t n = in.number(); n > 0 && !in.failed(); --n) {
    Block block;
    const std::uint32_t size = in.number();
    if (const char* const p = in.take(size)) block.bytes.assign(p, p + size);
    for (std::uint32_t m = in.number(); m > 0 && !in.failed(); --m) {
      const std::uint32_t offset = in.number();
      block.pointers.emplace_back(offset, in.number());
    }
    file.blocks.push_back(std::move(block));
  }
  for (std::uint32_t n = in.number(); n > 0 && !in.failed(); --n) {
    const std::uint32_t size = in.number();
    if (const char* const p = in.take(size)) file.strings.emplace_back(p, size);
  }
  if (in.failed()) return "cut short";
  if (!in.done()) return "bytes behind the end";
  for (const auto& [key, string] : file.callbacks) {
    if (string >= file.strings.size()) return "a callback without a name";
  }
  for (const Block& block : file.blocks) {
    for (const auto& [offset, string] : block.pointers) {
      if (string >= file.strings.size()) return "a pointer to no string";
      if (std::size_t{offset} + sizeof(void*) > block.bytes.size())
        return "a pointer off its block";
    }
  }
  return {};
}

Replay::Replay(ReplayFile file) : file_(std::move(file)) {
  for (Block& block : file_.blocks) {
    for (const auto& [offset, string] : block.pointers) {
      const char* const text = file_.strings[string].c_str();
      std::memcpy(block.bytes.data() + offset, static_cast<const void*>(&text), sizeof text);
    }
  }
  api_.version = file_.version;
  api_.ActivityGetNextRecord = next_record;
  api_.GetCallbackName = callback_name;
  replayed = &file_;
}

Replay::~Replay() { replayed = nullptr; }

}  // namespace cupti_replay
