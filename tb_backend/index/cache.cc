#include "tb_backend/index/cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <system_error>
#include <vector>

#include "tb_backend/index/hash.h"
#include "tb_backend/index/read.h"
#include "tb_backend/index/write.h"

namespace traceglass::index {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".tgix";
constexpr std::string_view kTemporary = ".tgix-new";
constexpr std::int64_t kLeftAfter = 3600;  // s without a write: whoever wrote it has ended

std::string hex(std::uint64_t n) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n));
  return text;
}

// A folder that only its owner enters, and those above it.
bool make_folder(const fs::path& folder) {
  std::error_code failed;
  if (fs::is_directory(folder, failed)) return true;
  if (folder.has_parent_path() && folder.parent_path() != folder &&
      !make_folder(folder.parent_path())) {
    return false;
  }
  return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
}

}  // namespace

fs::path default_directory() {
  const auto absolute = [](const char* name) -> fs::path {
    const char* const value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? fs::path(value) : fs::path();
  };
  if (const fs::path cache = absolute("XDG_CACHE_HOME"); !cache.empty()) {
    return cache / "traceglass" / "index";
  }
  if (const fs::path home = absolute("HOME"); !home.empty()) {
    return home / ".cache" / "traceglass" / "index";
  }
  return {};
}

fs::path Cache::place_of(const Content& content) const {
  const std::uint64_t hash = hash_bytes(content.source.data(), content.source.size());
  return options_.directory / (hex(hash) + std::string(kSuffix));
}

libtrace::TracePtr Cache::open(const Content& content) {
  const fs::path place = place_of(content);
  Opened opened;
  try {
    opened = open_index(place, content.source, content.key);
  } catch (const std::exception& e) {  // out of memory
    opened.refusal = e.what();
  }
  if (!opened.refusal.empty() && !opened.outdated) {
    say("The saved index " + place.string() + " is not used and made anew: " + opened.refusal +
        ".");
  }
  return opened.trace;
}

std::string Cache::write(const Content& content, const libtrace::Trace& trace,
                         const std::function<bool()>& keep_on) {
  if (!make_folder(options_.directory)) return std::strerror(errno);
  static std::atomic<unsigned> number{0};
  std::random_device random;
  const fs::path place = place_of(content);
  const fs::path made = options_.directory /
                        ('.' + place.stem().string() + '.' + std::to_string(::getpid()) + '.' +
                         std::to_string(number++) + '.' + hex(random()) + std::string(kTemporary));
  std::string fault = write_index(made, content.source, content.key, trace, keep_on);
  if (!fault.empty()) return fault;
  // What was read may have changed while it was read: then nobody knows what this is of.
  if (content_of(content.source) != content) {
    ::unlink(made.c_str());
    return "the file has changed meanwhile";
  }
  if (::rename(made.c_str(), place.c_str()) != 0) {
    fault = std::strerror(errno);
    ::unlink(made.c_str());
  }
  return fault;
}

std::string Cache::save(const Content& content, const libtrace::Trace& trace,
                        const std::function<bool()>& keep_on) {
  std::string fault;
  try {
    fault = write(content, trace, keep_on);
    if (fault.empty()) trim(place_of(content));
  } catch (const std::exception& e) {
    fault = e.what();
  }
  if (!fault.empty() && keep_on()) {
    say("No index is saved in " + options_.directory.string() + ": " + fault +
        ". Traces are read from their files.");
  }
  return fault;
}

void Cache::trim(const fs::path& keep) {
  struct Saved {
    fs::path path;
    std::int64_t used, bytes;
  };
  std::vector<Saved> saved;
  std::int64_t bytes = 0;
  std::error_code failed;
  for (fs::directory_iterator it(options_.directory, failed), end; !failed && it != end;
       it.increment(failed)) {
    const std::string name = it->path().filename().string();
    const bool ours = name.ends_with(kSuffix), left = name.ends_with(kTemporary);
    struct stat s{};
    if ((!ours && !left) || ::lstat(it->path().c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    if (left) {
      if (std::time(nullptr) - s.st_mtim.tv_sec > kLeftAfter) ::unlink(it->path().c_str());
      continue;
    }
    bytes += s.st_size;
    if (it->path() == keep) continue;
    const std::int64_t used = std::int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
    saved.push_back({it->path(), used, s.st_size});
  }
  const fs::space_info disk = fs::space(options_.directory, failed);
  const std::uint64_t most = failed
                                 ? options_.most_bytes
                                 : std::min<std::uint64_t>(options_.most_bytes, disk.capacity / 10);
  std::sort(saved.begin(), saved.end(),
            [](const Saved& a, const Saved& b) { return a.used < b.used; });
  for (const Saved& file : saved) {
    if (bytes <= static_cast<std::int64_t>(most)) return;
    // Its readers keep what they have mapped.
    if (::unlink(file.path.c_str()) == 0 || errno == ENOENT) bytes -= file.bytes;
  }
}

void Cache::say(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (options_.log && said_.insert(sentence).second) options_.log(sentence);
}

}  // namespace traceglass::index
