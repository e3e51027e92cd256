// A trace file as a stream of text: plain or gzip (sniffed, several members), inflated on a
// thread of its own a few blocks ahead of the reader. The text is never held whole.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace traceglass {

class TextStream {
 public:
  enum class End {
    kOk,
    kCut,         // the gzip stream ends in the middle or is corrupt
    kUnreadable,  // the file cannot be opened or read
  };

  // `bytes_read` is kept up to date with the bytes taken from the file.
  explicit TextStream(const std::filesystem::path& file, std::atomic<std::uint64_t>* bytes_read);
  ~TextStream();
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  // Appends the next block of text (about 1 MiB) to `out`; false at the end.
  bool read(std::vector<char>& out);
  // Valid once read() returned false.
  [[nodiscard]] End end() const;
  [[nodiscard]] const std::string& error() const;  // a sentence for kUnreadable and kCut

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traceglass
