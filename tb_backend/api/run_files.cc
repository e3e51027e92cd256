#include "tb_backend/api/run_files.h"

#include "tb_backend/api/json.h"

namespace traceglass {

std::vector<TraceFile> files_of(const Snapshot& snapshot, const std::string& run,
                                std::optional<int> index) {
  std::vector<TraceFile> files;
  for (const TraceFile& file : snapshot.files) {
    if (file.run == run && (!index || file.index == *index)) files.push_back(file);
  }
  return files;
}

Reply waiting_reply(const std::vector<TraceFile>& files, const RankParts::Answer& answer) {
  std::uint64_t done = 0, total = 0, events = 0;
  for (const RankParts::Part& part : answer.parts) {
    done += part.file.stamp.bytes;
    if (part.summary) events += part.summary->events;
  }
  for (const TraceFile& file : files) total += file.stamp.bytes;
  Reply reply = json_reply({{"id", files.front().id},
                            {"phase", "reading"},
                            {"bytes_done", done},
                            {"bytes_total", total},
                            {"events", events},
                            {"ranks_done", answer.parts.size()},
                            {"ranks_total", files.size()}});
  reply.status = 202;
  return reply;
}

}  // namespace traceglass
