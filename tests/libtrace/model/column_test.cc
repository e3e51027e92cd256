// A column is a vector to its reader, whether it holds its values or sees them.
#include "libtrace/column.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "libtrace/model/args.h"
#include "libtrace/trace.h"

namespace libtrace {
namespace {

using Numbers = Column<std::uint32_t>;

std::vector<std::uint32_t> values(const Numbers& column) { return {column.begin(), column.end()}; }

TEST(Column, BehavesAsAVector) {
  std::mt19937 random(1);
  Numbers column;
  std::vector<std::uint32_t> vector;
  for (int i = 0; i < 2000; ++i) {
    const auto n = static_cast<std::uint32_t>(random());
    switch (random() % 8) {
      case 0:
        column.resize(n % 100, n);
        vector.resize(n % 100, n);
        break;
      case 1:
        column.append(vector.data(), vector.size() % 50);
        vector.reserve(2 * vector.size());
        vector.insert(vector.end(), vector.begin(),
                      vector.begin() + static_cast<std::ptrdiff_t>(vector.size() % 50));
        break;
      case 2:
        column.assign(n % 10, n);
        vector.assign(n % 10, n);
        break;
      default:
        column.push_back(n);
        vector.push_back(n);
    }
    ASSERT_EQ(values(column), vector);
    ASSERT_EQ(column.empty(), vector.empty());
    ASSERT_TRUE(vector.empty() || column.back() == vector.back());
  }
}

TEST(Column, AddsAValueOfItsOwn) {
  Numbers column{7};
  for (int i = 0; i < 1000; ++i) column.push_back(column[0]);
  column.resize(3000, column[0]);
  for (const std::uint32_t n : column) EXPECT_EQ(n, 7U);
}

TEST(Column, ViewKeepsWhatItSees) {
  auto kept = std::make_shared<std::vector<std::uint32_t>>(std::vector<std::uint32_t>{1, 2, 3});
  const std::weak_ptr<std::vector<std::uint32_t>> alive = kept;
  Numbers view = Numbers::view(kept->data(), kept->size(), kept);
  const std::uint32_t* const seen = kept->data();
  kept.reset();
  EXPECT_TRUE(view.is_view());
  EXPECT_EQ(view.data(), seen);
  EXPECT_EQ(values(view), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(view.bytes(), 12U);

  const Numbers copy = view;
  EXPECT_EQ(copy, view);
  EXPECT_NE(copy.data(), seen);
  const Numbers moved = std::move(view);
  EXPECT_EQ(moved.data(), seen);
  EXPECT_FALSE(alive.expired());
}

TEST(Column, ViewThatGrowsIsACopy) {
  auto kept = std::make_shared<std::vector<std::uint32_t>>(std::vector<std::uint32_t>{1, 2, 3});
  Numbers column = Numbers::view(kept->data(), kept->size(), kept);
  column.push_back(4);
  EXPECT_FALSE(column.is_view());
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(values(column), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(kept->size(), 3U);
}

// Bytes from a file that somebody else wrote: reading ends, within them, whatever they are.
TEST(ArgumentBytes, AreReadWithinTheirEnd) {
  std::mt19937 random(2);
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t size = random() % 40;
    const auto exact = std::make_unique<std::uint8_t[]>(size);  // the sanitizer knows its end
    for (std::size_t i = 0; i < size; ++i) {
      exact[i] = static_cast<std::uint8_t>(random() % 3 == 0 ? 0xFF : random() % 9);
    }
    const auto bytes =
        args::Bytes::view(exact.get(), size, std::make_shared<int>());  // kept by this frame
    std::size_t met = 0;
    const std::uint8_t* const end = args::each(bytes, static_cast<std::uint32_t>(random() % 50),
                                               [&](StringId, const Value& value, StringId) {
                                                 ++met;
                                                 EXPECT_LE(value.type, Value::Type::kJson);
                                                 return false;
                                               });
    EXPECT_LE(end, bytes.end());
    EXPECT_LE(met, size);
  }
}

}  // namespace
}  // namespace libtrace
