// One column of a trace: a vector's interface over memory of its own, or a view of memory that
// somebody else keeps, such as a mapped file. Reading is one pointer and one size either way.
//
// Own memory grows by realloc, which moves pages instead of copying them once a column is large: a
// trace being built needs no second copy of its longest column. Values are plain bytes, so nothing
// but bytes is moved. A view is never written to; what makes it longer makes it a copy first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace libtrace {

template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  Column() noexcept = default;
  Column(std::initializer_list<T> values) { append(values.begin(), values.size()); }
  Column(const T* first, const T* last) { append(first, static_cast<std::size_t>(last - first)); }
  // A copy has memory of its own.
  Column(const Column& other) { append(other.data_, other.size_); }
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column other) noexcept {
    swap(other);
    return *this;
  }
  ~Column() { free_own(); }

  // Sees `size` values at `data` while `keeper`, which keeps them, lives.
  static Column view(const T* data, std::size_t size, std::shared_ptr<const void> keeper) {
    Column column;
    column.data_ = const_cast<T*>(data);  // never written: see above
    column.size_ = size;
    column.keeper_ = std::move(keeper);
    return column;
  }

  // ---- reading -----------------------------------------------------------------------------
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] const T& back() const noexcept { return data_[size_ - 1]; }
  [[nodiscard]] bool is_view() const noexcept { return keeper_ != nullptr; }
  // Bytes allocated, or seen.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return std::max(size_, capacity_) * sizeof(T);
  }

  friend bool operator==(const Column& a, const Column& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  // ---- writing, while a trace is built -------------------------------------------------------
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] T* begin() noexcept { return data_; }
  [[nodiscard]] T* end() noexcept { return data_ + size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] T& back() noexcept { return data_[size_ - 1]; }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_) set_capacity(capacity);
  }
  void push_back(const T& value) {
    const T kept = value;  // may stand in this column
    if (size_ >= capacity_) grow(size_ + 1);
    data_[size_++] = kept;
  }
  // `values` do not stand in this column.
  void append(const T* values, std::size_t count) {
    if (count == 0) return;
    if (count > capacity_ - std::min(size_, capacity_)) grow(size_ + count);
    std::memcpy(static_cast<void*>(data_ + size_), values, count * sizeof(T));
    size_ += count;
  }
  void resize(std::size_t size, const T& value = T()) {
    if (size > size_) {
      const T kept = value;
      reserve(size);
      std::fill(data_ + size_, data_ + size, kept);
    }
    size_ = size;
  }
  void assign(std::size_t size, const T& value) {
    const T kept = value;
    clear();
    resize(size, kept);
  }
  void clear() noexcept { Column().swap(*this); }
  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(keeper_, other.keeper_);
  }

 private:
  void grow(std::size_t least) { set_capacity(std::max({least, size_ + size_ / 2, kFirst})); }

  void set_capacity(std::size_t capacity) {
    if (capacity > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
    T* const own = capacity_ > 0 ? data_ : nullptr;
    void* const made = std::realloc(static_cast<void*>(own), capacity * sizeof(T));
    if (made == nullptr) throw std::bad_alloc();
    if (own == nullptr && size_ > 0) std::memcpy(made, data_, size_ * sizeof(T));
    data_ = static_cast<T*>(made);
    capacity_ = capacity;
    keeper_ = nullptr;
  }
  void free_own() noexcept {
    if (capacity_ > 0) std::free(static_cast<void*>(data_));
  }

  static constexpr std::size_t kFirst = 64 / sizeof(T) + 1;

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // 0: a view, or nothing
  std::shared_ptr<const void> keeper_;
};

}  // namespace libtrace
