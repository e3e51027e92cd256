// The `serve` command: options → App → address printed → requests answered until ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tb_backend/api/indexed_load.h"

namespace traceglass {

struct ServeOptions {
  std::string logdir;       // a directory or one file
  std::string logdir_spec;  // "a:x,b:y"; instead of logdir
  std::string host = "127.0.0.1";
  int port = 6006;
  std::string path_prefix;
  std::string web_dir;
  std::string token;                    // that may read and write; else $TRACEGLASS_TOKEN
  std::string token_file;               // instead of it
  std::vector<std::string> host_names;  // under which a proxy is reached
  std::string user_header;
  std::vector<std::string> trusted_proxies;
  std::string notes;   // file of the notes; "": in the log directory
  std::string secret;  // else $TRACEGLASS_SECRET
  bool no_auth = false;
  bool exit_with_parent = false;
  std::uint64_t memory = 0;  // bytes of loaded traces; 0: half of the machine's
  IndexOptions index;
};

// Exit status: 0 ended, 1 the address cannot be had, 2 refused options. Says why on stderr.
int serve(const ServeOptions& options);

}  // namespace traceglass
