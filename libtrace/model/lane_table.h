// The lanes of a trace being built: who they are, and what the file calls them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libtrace/model/string_pool.h"
#include "libtrace/trace.h"

namespace libtrace {

class LaneTable {
 public:
  LaneTable(TraceData& data, StringPool& strings) : d_(data), strings_(strings) {}

  // The lane of (domain, pid, tid), made at its first use.
  LaneId lane(Domain domain, StringId pid, StringId tid);
  // A lane that exists, of the host if there are two; kNone without one.
  [[nodiscard]] LaneId find(StringId pid, StringId tid) const;

  // What metadata rows say; a later one wins.
  struct ProcessNames {
    std::string name, labels;
    std::int64_t sort = 0;
  };
  ProcessNames& process(StringId pid) { return processes_[pid]; }
  void name_thread(StringId pid, StringId tid, std::string_view name);
  void sort_thread(StringId pid, StringId tid, std::int64_t index);

  // Python rows of an unknown process stand on (0, 0); they belong to the main one. Needs the
  // slices' lanes and kinds.
  void adopt_orphans();
  // Gives each lane its names.
  void apply_names();

 private:
  struct ThreadNames {
    std::string name, device_name;  // a pid can be a process and a device at once
    std::int64_t sort = 0;
  };
  [[nodiscard]] std::string main_process() const;

  TraceData& d_;
  StringPool& strings_;
  std::unordered_map<std::uint64_t, LaneId> ids_[2];  // by domain: (pid, tid)
  std::uint64_t last_key_[2] = {~0ULL, ~0ULL};        // rows of a lane come in runs
  LaneId last_[2] = {kNone, kNone};
  std::unordered_map<StringId, ProcessNames> processes_;
  std::unordered_map<std::uint64_t, ThreadNames> threads_;
};

inline std::uint64_t lane_key(StringId pid, StringId tid) { return std::uint64_t{pid} << 32 | tid; }

}  // namespace libtrace
