#include "libtrace/record/symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "libtrace/record/json.h"

namespace libtrace::detail {
namespace {

// A file as bytes; anything may be wrong with them.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat st{};
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
      void* const p =
          mmap(nullptr, static_cast<std::size_t>(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (p != MAP_FAILED)
        bytes_ = {static_cast<const char*>(p), static_cast<std::size_t>(st.st_size)};
    }
    close(fd);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::string_view part(std::uint64_t offset, std::uint64_t size) const noexcept {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
    return bytes_.substr(offset, size);
  }
  template <class T>
  bool read(std::uint64_t offset, T& out) const noexcept {
    const std::string_view bytes = part(offset, sizeof out);
    if (bytes.size() != sizeof out) return false;
    std::memcpy(&out, bytes.data(), sizeof out);
    return true;
  }

 private:
  std::string_view bytes_;
};

std::string demangled(const char* name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return out;
}

std::string hex(std::uint64_t v) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, v, 16).ptr;
  return "0x" + std::string(digits, end);
}

}  // namespace

ElfSymbols::ElfSymbols(const std::string& path) {
  const MappedFile file(path.c_str());
  Elf64_Ehdr header;
  if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return;
  }
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table, strings;
    if (!file.read(header.e_shoff + i * sizeof table, table)) return;
    if (table.sh_type != SHT_SYMTAB) continue;
    if (!file.read(header.e_shoff + table.sh_link * sizeof strings, strings)) return;
    names_ = file.part(strings.sh_offset, strings.sh_size);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!file.read(table.sh_offset + at, symbol)) break;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value != 0 &&
          symbol.st_name < names_.size()) {
        functions_.push_back({symbol.st_value, symbol.st_size, symbol.st_name});
      }
    }
  }
  names_ += '\0';
  std::sort(functions_.begin(), functions_.end(),
            [](const Function& a, const Function& b) { return a.start < b.start; });
}

std::string_view ElfSymbols::find(std::uint64_t address) const noexcept {
  auto it = std::upper_bound(functions_.begin(), functions_.end(), address,
                             [](std::uint64_t a, const Function& f) { return a < f.start; });
  if (it == functions_.begin()) return {};
  --it;
  if (address - it->start >= std::max<std::uint64_t>(it->size, 1)) return {};
  return names_.c_str() + it->name;
}

const Frame& Symbolizer::frame(std::uint64_t address) {
  const auto [it, fresh] = frames_.try_emplace(address);
  if (fresh) it->second = resolve(address);
  return it->second;
}

Frame Symbolizer::resolve(std::uint64_t address) {
  // A call may be a function's last instruction: its return address is the next one's.
  const std::uint64_t at = address - 1;
  Dl_info info{};
  link_map* map = nullptr;
  Frame frame;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): dladdr asks for an address it does not read.
  auto* const place = reinterpret_cast<void*>(at);
  if (dladdr1(place, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      info.dli_fname == nullptr) {
    frame.text = "(" + hex(address) + "): ?";
    frame.in_a_file = false;
    return frame;
  }
  const std::uint64_t base = map != nullptr ? map->l_addr : 0;
  const bool program = map != nullptr && (map->l_name == nullptr || map->l_name[0] == '\0');
  const std::string path = program ? "/proc/self/exe" : info.dli_fname;
  auto& symbols = files_[path];
  if (!symbols) symbols = std::make_unique<ElfSymbols>(path);
  const std::string mangled(symbols->find(at - base));
  if (!mangled.empty()) {
    frame.function = demangled(mangled.c_str());
  } else if (info.dli_sname != nullptr) {
    frame.function = demangled(info.dli_sname);
  }
  std::string_view file = info.dli_fname;
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  frame.text = valid_utf8(std::string(file) + "(" + hex(address - base) +
                          "): " + (frame.function.empty() ? "?" : frame.function));
  std::replace(frame.text.begin(), frame.text.end(), ';', '_');
  return frame;
}

}  // namespace libtrace::detail
