// What to record, in the words of both recorders: torch.profiler's and libtrace's.
#pragma once

#include <string>

namespace traceglass {

struct RecordOption {
  const char* torch;  // in profile(…)
  const char* ours;   // in libtrace::Options
};

inline constexpr RecordOption kRecordHost{"ProfilerActivity.CPU", "Activities::cpu()"};
inline constexpr RecordOption kRecordDevice{"ProfilerActivity.CUDA", "Activities::cuda()"};
inline constexpr RecordOption kRecordShapes{"record_shapes=True", ".record_shapes = true"};
inline constexpr RecordOption kRecordMemory{"profile_memory=True", ".profile_memory = true"};
inline constexpr RecordOption kRecordStacks{"with_stack=True", ".with_stack = true"};
// Python's frames tell of modules; in C++ a scope does.
inline constexpr RecordOption kRecordModules{"with_stack=True",
                                             ".with_modules = true and ModuleScope"};

// "record_shapes=True (C++: .record_shapes = true)", within a sentence.
inline std::string record_words(const RecordOption& o) {
  return std::string(o.torch) + " (C++: " + o.ours + ")";
}

// Both to type, with host and device recorded as well.
inline std::string record_code(const RecordOption& o) {
  return "profile(activities=[CPU, CUDA], " + std::string(o.torch) +
         ")\n"
         "libtrace::Options{.activities = Activities::cpu() | Activities::cuda(),\n"
         "                  " +
         o.ours + "}";
}

}  // namespace traceglass
