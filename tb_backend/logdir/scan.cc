#include "tb_backend/logdir/scan.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "tb_backend/logdir/names.h"
#include "tb_backend/logdir/stable_hash.h"

namespace traceglass {
namespace {

namespace fs = std::filesystem;
using NodeId = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

NodeId node_of(const struct stat& s) { return {s.st_dev, s.st_ino}; }

FileStamp stamp_of(const struct stat& s) {
  return {static_cast<std::uint64_t>(s.st_size),
          std::int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec, s.st_dev, s.st_ino};
}

struct Folder {
  fs::path path;
  std::string relative;  // "" for a root
};

// One walk. Folders behind links wait until all real ones are done, so that what can be reached
// both ways is listed under its real name, and each folder is read once: cycles end there.
class Walk {
 public:
  explicit Walk(Snapshot& out) : out_(out) {}

  void root(const LogdirRoot& root) {
    root_name_ = root.name;
    struct stat s{};
    if (::stat(root.path.c_str(), &s) != 0) {
      const std::string path = root.path.string();
      trouble_ += errno == ENOENT ? "There is no folder " + path + " yet. "
                                  : path + ' ' + reason("cannot be read", errno) + ". ";
      return;
    }
    if (S_ISREG(s.st_mode)) {
      const std::string name = root.path.filename().string();
      FileName parsed = parse_file_name(name);
      if (parsed.type == FileName::Type::kOther) parsed.worker = name;
      add("", name, parsed, root.path, s);
      return;
    }
    enter({root.path, ""}, s);
    run_queues();
  }

  void finish() {
    for (auto& [link, target] : links_) {
      if (real_files_.contains(target.second)) {
        const TraceFile& f = target.first;
        out_.ignored.push_back(
            {f.run, f.file, f.worker, f.span, "a link to a file listed under its own name"});
      } else {
        real_files_.insert(target.second);
        out_.files.push_back(std::move(target.first));
      }
    }
  }

  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  static std::string reason(const char* what, int error) {
    return std::string(what) + ": " + std::strerror(error);
  }

  void run_queues() {
    while (!folders_.empty() || !linked_.empty()) {
      if (!folders_.empty()) {
        const Folder folder = std::move(folders_.back());
        folders_.pop_back();
        read(folder);
        continue;
      }
      const auto first = linked_.begin();
      const Folder folder{first->second, first->first};
      linked_.erase(first);
      struct stat s{};
      if (::stat(folder.path.c_str(), &s) == 0) enter(folder, s);
    }
  }

  void enter(Folder folder, const struct stat& s) {
    if (visited_.insert(node_of(s)).second) folders_.push_back(std::move(folder));
  }

  void read(const Folder& folder) {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator it(folder.path, error), end; !error && it != end;
         it.increment(error)) {
      names.push_back(it->path().filename().string());
    }
    if (error) {
      ignore(run_of(folder.relative), display(folder.relative.empty() ? "." : folder.relative), {},
             "this folder cannot be read: " + error.message());
    }
    std::sort(names.begin(), names.end(), std::greater<>());  // folders_ is a stack
    for (const std::string& name : names) visit(folder, name);
  }

  void visit(const Folder& folder, const std::string& name) {
    if (name.starts_with('.')) return;
    const fs::path path = folder.path / name;
    const std::string relative = folder.relative.empty() ? name : folder.relative + '/' + name;
    const FileName parsed = parse_file_name(name);
    struct stat link{};
    struct stat target{};
    if (::lstat(path.c_str(), &link) != 0) return;  // gone since the folder was read
    if (::stat(path.c_str(), &target) != 0) {
      if (parsed.type != FileName::Type::kOther) {
        ignore(run_of(folder.relative), display(relative), parsed,
               reason("a link that leads nowhere", errno));
      }
      return;
    }
    if (S_ISDIR(target.st_mode)) {
      if (S_ISLNK(link.st_mode)) {
        linked_.emplace(relative, path);
      } else {
        enter({path, relative}, target);
      }
      return;
    }
    if (parsed.type == FileName::Type::kOther) {
      if (is_event_file_name(name) && S_ISREG(target.st_mode)) {
        event_file(folder.relative, relative, path, target);
      }
      return;
    }
    if (parsed.type == FileName::Type::kTemporary) {
      ignore(
          run_of(folder.relative), display(relative), parsed,
          "a temporary name: still being written, or left by a program that ended while writing");
    } else if (!S_ISREG(target.st_mode)) {
      ignore(run_of(folder.relative), display(relative), parsed, "not a regular file");
    } else if (S_ISLNK(link.st_mode)) {
      links_.emplace(
          display(relative),
          std::pair(make(folder.relative, relative, parsed, path, target), node_of(target)));
    } else {
      add(folder.relative, relative, parsed, path, target);
    }
  }

  void add(const std::string& folder, const std::string& relative, const FileName& parsed,
           const fs::path& path, const struct stat& s) {
    real_files_.insert(node_of(s));
    out_.files.push_back(make(folder, relative, parsed, path, s));
  }

  // Once each, under whichever name is found first.
  void event_file(const std::string& folder, const std::string& relative, const fs::path& path,
                  const struct stat& s) {
    if (!event_files_.insert(node_of(s)).second) return;
    out_.events.push_back({run_of(folder), display(relative), path, stamp_of(s)});
  }

  TraceFile make(const std::string& folder, const std::string& relative, const FileName& parsed,
                 const fs::path& path, const struct stat& s) {
    TraceFile file;
    file.run = run_of(folder);
    file.worker = parsed.worker;
    file.span = parsed.span;
    file.file = display(relative);
    file.path = path;
    file.stamp = stamp_of(s);
    return file;
  }

  void ignore(std::string run, std::string file, const FileName& parsed, std::string why) {
    out_.ignored.push_back(
        {std::move(run), std::move(file), parsed.worker, parsed.span, std::move(why)});
  }

  [[nodiscard]] std::string run_of(const std::string& folder) const {
    if (folder.empty()) return root_name_.empty() ? "." : root_name_;
    return display(folder);
  }
  [[nodiscard]] std::string display(const std::string& relative) const {
    return root_name_.empty() ? relative : root_name_ + '/' + relative;
  }

  Snapshot& out_;
  std::string root_name_, trouble_;
  std::vector<Folder> folders_;
  std::map<std::string, fs::path> linked_;  // by relative path: the order is stable
  std::set<NodeId> visited_, real_files_, event_files_;
  std::map<std::string, std::pair<TraceFile, NodeId>> links_;
};

// Ids by path order; a collision (chance, or names made for it) takes the next free hash, so that
// no file hides another.
void give_ids(std::vector<TraceFile>& files) {
  std::vector<TraceFile*> by_path;
  for (TraceFile& f : files) by_path.push_back(&f);
  std::sort(by_path.begin(), by_path.end(),
            [](const TraceFile* a, const TraceFile* b) { return a->file < b->file; });
  std::set<std::string> used;
  for (TraceFile* f : by_path) {
    std::string salted = f->file;
    while (!used.insert(f->id = stable_hash(salted)).second) salted += '\n';
  }
}

void give_indexes(std::vector<TraceFile>& files) {
  std::sort(files.begin(), files.end(), [](const TraceFile& a, const TraceFile& b) {
    const int by_worker = std::tie(a.run, a.worker) < std::tie(b.run, b.worker)   ? -1
                          : std::tie(b.run, b.worker) < std::tie(a.run, a.worker) ? 1
                                                                                  : 0;
    if (by_worker != 0) return by_worker < 0;
    if (span_less(a.span, b.span)) return true;
    if (span_less(b.span, a.span)) return false;
    return a.file < b.file;
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool same =
        i > 0 && files[i - 1].run == files[i].run && files[i - 1].worker == files[i].worker;
    files[i].index = same ? files[i - 1].index + 1 : 1;
  }
}

std::string what_to_do(const Snapshot& snapshot, const std::string& trouble) {
  if (!snapshot.files.empty()) return {};
  const std::string text = !trouble.empty()
                               ? trouble
                               : "No trace in " + snapshot.logdir +
                                     " yet: no file that ends in .json, .json.gz or .pftrace. ";
  return text +
         "Record one with torch.profiler.profile(on_trace_ready="
         "torch.profiler.tensorboard_trace_handler(\"" +
         snapshot.logdir + "\")); it appears here without a restart.";
}

}  // namespace

const TraceFile* Snapshot::find(std::string_view id) const {
  const auto it = std::lower_bound(
      by_id.begin(), by_id.end(), id,
      [&](std::uint32_t i, std::string_view wanted) { return files[i].id < wanted; });
  return it == by_id.end() || files[*it].id != id ? nullptr : &files[*it];
}

Snapshot scan(const LogdirSpec& spec) {
  Snapshot out;
  out.logdir = describe(spec);
  Walk walk(out);
  for (const LogdirRoot& root : spec) walk.root(root);
  walk.finish();
  give_ids(out.files);
  give_indexes(out.files);
  out.by_id.resize(out.files.size());
  std::iota(out.by_id.begin(), out.by_id.end(), 0U);
  std::sort(out.by_id.begin(), out.by_id.end(),
            [&](std::uint32_t a, std::uint32_t b) { return out.files[a].id < out.files[b].id; });
  std::sort(out.ignored.begin(), out.ignored.end(), [](const IgnoredFile& a, const IgnoredFile& b) {
    return std::tie(a.run, a.file) < std::tie(b.run, b.file);
  });
  std::sort(out.events.begin(), out.events.end(),
            [](const EventFileFound& a, const EventFileFound& b) { return a.file < b.file; });
  out.message = what_to_do(out, walk.trouble());
  return out;
}

}  // namespace traceglass
