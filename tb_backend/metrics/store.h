// The event files of a log directory, as runs and tags. Files are read when asked for and read on
// as they grow; nothing waits, nothing watches.
//
// A run is a folder, as in TensorBoard. Its files count in the order of their names, which begin
// with their time. Where a session restarts at step N (SessionLog START, e.g. torch's purge_step),
// what was written before it for steps >= N is superseded: kept, counted, and left out of curves
// unless asked for. Steps that go back without such a word are all kept.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tb_backend/metrics/event_file.h"

namespace traceglass {

struct MetricFileRef {
  std::string run, file;  // `file` relative to the log directory
  std::filesystem::path path;
  std::uint64_t bytes = 0, device = 0, inode = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const MetricFileRef&) const = default;
};

// What a reader of the store sees.
class MetricRun {
 public:
  struct Part {
    std::size_t file = 0;
    const TagPoints* points = nullptr;
  };
  struct Tag {
    std::string_view name;
    std::vector<Part> parts;  // by file
    // Of its first file.
    [[nodiscard]] MetricKind kind() const { return parts.front().points->kind; }
    [[nodiscard]] const std::string& plugin() const { return parts.front().points->plugin; }
  };
  struct File {
    std::string name;
    std::uint64_t bytes = 0;
    std::shared_ptr<EventFile> content;
  };

  MetricRun(std::string name, std::vector<File> files);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<File>& files() const { return files_; }
  // In the order in which they first appear.
  [[nodiscard]] const std::vector<Tag>& tags() const { return tags_; }
  [[nodiscard]] const Tag* find(std::string_view tag) const;
  [[nodiscard]] bool has_restarts() const { return has_restarts_; }

  // Calls each(const MetricPoint&, bool superseded) in the order in which they were written.
  template <class Each>
  void for_each(const Tag& tag, Each&& each) const {
    for (const Part& part : tag.parts) {
      const TagPoints& points = *part.points;
      for (std::size_t e = 0; e < points.epochs.size(); ++e) {
        const std::size_t end =
            e + 1 < points.epochs.size() ? points.epochs[e + 1].first : points.points.size();
        const std::int64_t void_from = void_from_[part.file][points.epochs[e].restarts];
        for (std::size_t i = points.epochs[e].first; i < end; ++i) {
          const MetricPoint& point = points.points[i];
          // kNever is the largest step: a point at it would be called void for nothing.
          each(point, point.step >= void_from && void_from != kNever);
        }
      }
    }
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::string name_;
  std::vector<File> files_;
  std::vector<Tag> tags_;
  std::map<std::string_view, std::size_t> by_name_;
  // By file and by the restarts before a point in it: the least step of all later restarts.
  std::vector<std::vector<std::int64_t>> void_from_;
  bool has_restarts_ = false;
};

class MetricStore {
 public:
  explicit MetricStore(MetricLimits limits = {}, int threads = 2);

  // Thread-safe. Makes the store what these files hold now; cheap when nothing changed. Where it
  // throws, for want of memory, the store is empty until the next call.
  void update(std::vector<MetricFileRef> files);

  // Thread-safe, during one call nothing changes. By name.
  using Runs = std::vector<MetricRun>;
  void read(const std::function<void(const Runs&)>& reader) const;

 private:
  struct Entry {
    MetricFileRef ref;
    std::shared_ptr<EventFile> content;
  };
  void read_files(std::vector<Entry*>& changed) const;
  void keep_within_limits();
  void index();

  const MetricLimits limits_;
  const int threads_;
  mutable std::shared_mutex mutex_;
  std::vector<MetricFileRef> last_;
  std::map<std::string, Entry> files_;  // by file
  Runs runs_;
};

}  // namespace traceglass
