// `traceglass key-averages`: torch's table of a trace file, as text, JSON or CSV.
#pragma once

#include <string>

#include "libtrace/key_averages.h"

namespace traceglass {

struct KeyAveragesCommand {
  std::string path;
  libtrace::KeyAveragesOptions group;
  libtrace::TableOptions table;  // of JSON and CSV: order and row limit
  bool row_limit_given = false;  // JSON and CSV are whole unless cut
  std::string format = "text";   // text, json, csv
};

// Prints to stdout, what is wrong with the file or the options to stderr; the exit status.
int run_key_averages(const KeyAveragesCommand& command);

}  // namespace traceglass
