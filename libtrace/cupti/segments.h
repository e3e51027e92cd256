// A list that only grows, in pieces: nothing is copied as it does, and it never holds much more
// than its elements, so that a ceiling on elements is one on memory.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

namespace libtrace::cupti {

template <class T>
class Segments {
 public:
  static constexpr std::size_t kPerSegment = 512;  // about 60 KiB of the largest events

  void push_back(const T& value) {
    if (size_ % kPerSegment == 0) segments_.push_back(std::make_unique<T[]>(kPerSegment));
    segments_.back()[size_ % kPerSegment] = value;
    ++size_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  const T& operator[](std::size_t i) const noexcept {
    return segments_[i / kPerSegment][i % kPerSegment];
  }

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator(const Segments* list, std::size_t i) noexcept : list_(list), i_(i) {}
    reference operator*() const noexcept { return (*list_)[i_]; }
    Iterator& operator++() noexcept {
      ++i_;
      return *this;
    }
    bool operator!=(const Iterator& other) const noexcept { return i_ != other.i_; }

   private:
    const Segments* list_;
    std::size_t i_;
  };
  [[nodiscard]] Iterator begin() const noexcept { return {this, 0}; }
  [[nodiscard]] Iterator end() const noexcept { return {this, size_}; }

 private:
  std::vector<std::unique_ptr<T[]>> segments_;
  std::size_t size_ = 0;
};

}  // namespace libtrace::cupti
