// When which module ran: the instances of modules on the host threads of a trace, wherever the file
// tells of them, as one forest. What ran inside is found by time on the thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

// What tells of modules, best first.
enum class ModuleSource : std::uint8_t {
  kNone,
  kFrames,       // Python frames `nn.Module: Name_k`; our recorder's module scopes are written so
  kHierarchy,    // `Module Hierarchy` of operators: calls in a row of one module are one
  kLightning,    // annotations `[pl][module]Type: path`
  kAnnotations,  // any annotations around operators
};
std::string_view module_source_name(ModuleSource source);

// Cheap unless no frame tells: one look at the operators' arguments.
ModuleSource find_module_source(const libtrace::Trace& trace);

struct ModuleScope {
  libtrace::EventId event = 0;  // the frame or annotation; its first operator where neither is
  std::int64_t start = 0, end = 0;
  std::int64_t self = 0;                   // time in which no scope within it is active
  std::uint32_t parent = libtrace::kNone;  // of smaller index
  std::uint32_t module = 0;                // index in ModuleScopes::modules
};

// A module: all scopes with one path of names from the outermost.
struct ModulePath {
  std::string name;
  std::uint32_t parent = libtrace::kNone;  // of smaller index
  std::uint32_t depth = 0;
};

struct ModuleScopes {
  // O(number of slices), whatever the depth.
  explicit ModuleScopes(const libtrace::Trace& trace);

  ModuleSource source;
  std::vector<ModuleScope> scopes;  // by lane and start
  std::vector<ModulePath> modules;  // in order of their first scope
  // By slice: the innermost scope of its thread around its start, kNone outside of any.
  std::vector<std::uint32_t> around;
};

}  // namespace traceglass
