#include "tb_backend/review/database.h"

#include <sqlite3.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <system_error>

namespace traceglass {
namespace {

constexpr int kWaitMs = 3000;  // for another program's lock

NoteError::Kind kind_of(int status) {
  switch (status & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return NoteError::Kind::kLocked;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
      return NoteError::Kind::kFull;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return NoteError::Kind::kReadOnly;
    default:
      return NoteError::Kind::kBroken;
  }
}

std::string sentence_of(NoteError::Kind kind, const std::string& path, const char* why) {
  switch (kind) {
    case NoteError::Kind::kLocked:
      return "Another program holds the notes " + path + " locked: try again.";
    case NoteError::Kind::kFull:
      return "The notes " + path + " could not be written (" + why +
             "): is the disk full? Nothing was changed.";
    case NoteError::Kind::kReadOnly:
      return "The notes " + path + " cannot be written here: start the server with --notes FILE.";
    default:
      return "The notes " + path + " cannot be read: " + why +
             ". The file is left as it is; move it away or start the server with --notes FILE.";
  }
}

// What a path may hold and a URI may not.
std::string escaped(const std::string& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == '?' || c == '#' || byte < 0x20) {
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    } else {
      out += c;
    }
  }
  return out;
}

// A write-ahead log needs memory shared by all who open the file: one machine's. Magic numbers of
// statfs(2).
bool is_shared_by_machines(const std::filesystem::path& path) {
  constexpr std::array<std::uint32_t, 9> kNetwork = {0x6969,     0x517B,     0xFF534D42,
                                                     0xFE534D42, 0x65735546, 0x01021997,
                                                     0x0BD00BD0, 0x47504653, 0x00C36400};
  struct statfs s{};
  if (::statfs(path.parent_path().empty() ? "." : path.parent_path().c_str(), &s) != 0) return true;
  const auto type = static_cast<std::uint32_t>(s.f_type);
  return std::find(kNetwork.begin(), kNetwork.end(), type) != kNetwork.end();
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { ::sqlite3_close_v2(handle); }

Database::Database(const std::filesystem::path& path, Mode mode) : path_(path.string()) {
  const bool writes = mode == Mode::kCreate || mode == Mode::kWrite;
  int flags =
      SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW;
  flags |= writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  if (mode == Mode::kCreate) flags |= SQLITE_OPEN_CREATE;
  // No link in place of the file itself; SQLite would refuse one among its folders too.
  std::error_code ignored;
  const std::filesystem::path folder =
      std::filesystem::canonical(std::filesystem::absolute(path).parent_path(), ignored);
  const std::filesystem::path opens = folder.empty() ? path : folder / path.filename();
  const std::string uri =
      "file:" + escaped(opens.string()) + (mode == Mode::kImmutable ? "?immutable=1" : "");
  sqlite3* opened = nullptr;
  const int status = ::sqlite3_open_v2(uri.c_str(), &opened, flags, nullptr);
  handle_.reset(opened);
  if (status != SQLITE_OK) fail(status);
  ::sqlite3_busy_timeout(opened, kWaitMs);
  // A file from elsewhere may hold anything: its schema runs no function of ours.
  ::sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  ::sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  ::sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  ::sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
}

void Database::prepare_to_write(std::int64_t largest_bytes) {
  run(is_shared_by_machines(path_) ? "PRAGMA journal_mode=DELETE" : "PRAGMA journal_mode=WAL");
  run("PRAGMA synchronous=FULL");
  run("PRAGMA secure_delete=ON");  // what its author removed is overwritten
  const std::int64_t page = std::max<std::int64_t>(512, number("PRAGMA page_size"));
  run(("PRAGMA max_page_count=" + std::to_string(std::max<std::int64_t>(1, largest_bytes / page)))
          .c_str());
}

void Database::fail(int status) const {
  const NoteError::Kind kind = kind_of(status);
  const char* why = handle_ ? ::sqlite3_errmsg(handle_.get()) : ::sqlite3_errstr(status);
  throw DatabaseError{{kind, sentence_of(kind, path_, why)}};
}

void Database::run(const char* sql) {
  const int status = ::sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) fail(status);
}

std::int64_t Database::number(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::last_id() const { return ::sqlite3_last_insert_rowid(handle_.get()); }

void Statement::Finalize::operator()(sqlite3_stmt* handle) const { ::sqlite3_finalize(handle); }

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  sqlite3_stmt* made = nullptr;
  const int status = ::sqlite3_prepare_v2(database.handle(), sql.data(),
                                          static_cast<int>(sql.size()), &made, nullptr);
  handle_.reset(made);
  if (status != SQLITE_OK) database.fail(status);
}

Statement& Statement::bind(std::int64_t value) {
  const int status = ::sqlite3_bind_int64(handle_.get(), next_++, value);
  if (status != SQLITE_OK) database_.fail(status);
  return *this;
}

Statement& Statement::bind(const std::optional<std::int64_t>& value) {
  if (value) return bind(*value);
  ++next_;  // unbound is NULL
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  const char* data = value.data() == nullptr ? "" : value.data();
  const int status = ::sqlite3_bind_text64(handle_.get(), next_++, data, value.size(),
                                           SQLITE_TRANSIENT, SQLITE_UTF8);
  if (status != SQLITE_OK) database_.fail(status);
  return *this;
}

bool Statement::step() {
  const int status = ::sqlite3_step(handle_.get());
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) database_.fail(status);
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

std::int64_t Statement::integer(int column) const {
  return ::sqlite3_column_int64(handle_.get(), column);
}

std::optional<std::int64_t> Statement::maybe_integer(int column) const {
  if (::sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

std::string Statement::text(int column) const {
  const void* data = ::sqlite3_column_text(handle_.get(), column);
  const int size = ::sqlite3_column_bytes(handle_.get(), column);
  return data == nullptr
             ? std::string()
             : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

// The write lock at once: a transaction that begins by reading cannot wait for it later.
Transaction::Transaction(Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!done_) ::sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  done_ = true;
}

}  // namespace traceglass
