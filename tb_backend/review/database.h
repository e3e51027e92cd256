// SQLite, as little of it as notes need: a connection, a statement, and errors that say why.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tb_backend/review/note.h"

struct sqlite3;
struct sqlite3_stmt;

namespace traceglass {

// Thrown within this folder only; a store turns it into its result.
struct DatabaseError {
  NoteError error;
};

class Database {
 public:
  enum class Mode : std::uint8_t {
    kCreate,    // made if it is not there
    kWrite,     // as it stands
    kRead,      // no change
    kImmutable  // no change, and nobody else's seen: of a folder in which no lock can be made
  };

  // Throws DatabaseError. Changes nothing in a file that is there.
  Database(const std::filesystem::path& path, Mode mode);
  // To be called once the file is known to be ours: sets how it is written. Beyond `largest_bytes`
  // a write fails as on a full disk.
  void prepare_to_write(std::int64_t largest_bytes);

  void run(const char* sql);
  [[nodiscard]] std::int64_t number(const char* sql);
  [[nodiscard]] std::int64_t last_id() const;
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  // Throws what the last call's status says.
  [[noreturn]] void fail(int status) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  const std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// Prepared, bound from the left, stepped. Text is copied.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  Statement& bind(std::int64_t value);
  Statement& bind(const std::optional<std::int64_t>& value);
  Statement& bind(std::string_view value);

  // Whether there is a row.
  bool step();
  void run();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const;
  [[nodiscard]] std::string text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int next_ = 1;
};

// All or nothing: undone unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool done_ = false;
};

}  // namespace traceglass
