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

// Text in blocks. Tests feed their own.
class TextSource {
 public:
  enum class End {
    kOk,
    kCut,         // the gzip stream ends in the middle
    kDamaged,     // the gzip stream is corrupt from some place on
    kChecksum,    // whole, but a checksum is wrong
    kUnreadable,  // the file cannot be opened or read
    kBehind,      // whole, but bytes that are no gzip follow the last member
  };
  virtual ~TextSource() = default;
  // Appends the next block of text to `out`; false at the end.
  virtual bool read(std::vector<char>& out) = 0;
  // Valid once read() returned false.
  [[nodiscard]] virtual End end() const = 0;
  [[nodiscard]] virtual const std::string& error() const = 0;  // a sentence unless kOk
  // Whether the file was written to since it was opened.
  [[nodiscard]] virtual bool changed() const { return false; }
};

class TextStream : public TextSource {
 public:
  // `bytes_read` is kept up to date with the bytes taken from the file.
  explicit TextStream(const std::filesystem::path& file, std::atomic<std::uint64_t>* bytes_read);
  ~TextStream() override;
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  bool read(std::vector<char>& out) override;  // about 1 MiB
  [[nodiscard]] End end() const override;
  [[nodiscard]] const std::string& error() const override;
  [[nodiscard]] bool changed() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traceglass
