// Code address → text, when a trace is made: `library(0x1234): ns::function(int)`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace libtrace::detail {

// The functions of one ELF file by its own symbol table, which names also what the dynamic one, and
// with it dladdr(), does not: static functions, and all of most programs.
class ElfSymbols {
 public:
  explicit ElfSymbols(const std::string& path);
  // Mangled name of the function that holds `address` (as the file counts), or "".
  [[nodiscard]] std::string_view find(std::uint64_t address) const noexcept;

 private:
  struct Function {
    std::uint64_t start, size;
    std::uint32_t name;  // into names_
  };
  std::vector<Function> functions_;
  std::string names_;
};

struct Frame {
  std::string text;       // as above; no ';'
  std::string function;   // demangled, "" if unknown
  bool in_a_file = true;  // else nothing that was loaded holds the address
};

class Symbolizer {
 public:
  // Of a return address.
  const Frame& frame(std::uint64_t address);

 private:
  Frame resolve(std::uint64_t address);
  std::map<std::uint64_t, Frame> frames_;
  std::map<std::string, std::unique_ptr<ElfSymbols>> files_;
};

}  // namespace libtrace::detail
