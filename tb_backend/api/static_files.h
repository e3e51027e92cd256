// The page: every file of its folder, read into memory by name. A request looks a name up in that
// list; it never becomes a path of the file system.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "tb_backend/api/call.h"

namespace traceglass {

// First that holds an index.html: `given`, $TRACEGLASS_WEB, beside the program (build tree,
// wheel, installed share). Empty when there is none. `given` wins even if it holds none.
std::filesystem::path find_web_dir(const std::string& given);

class StaticFiles {
 public:
  explicit StaticFiles(std::filesystem::path folder);

  // `name` without a leading slash; "" is the page itself. 404 as a problem; without a page, a
  // page that says how to get one.
  Reply get(std::string_view name);

 private:
  struct File {
    std::string type;
    std::shared_ptr<const std::string> body;
    std::string etag;
    bool immutable = false;
  };
  using Files = std::map<std::string, File, std::less<>>;

  // The list, read anew when the page was built anew.
  std::shared_ptr<const Files> files();
  std::shared_ptr<const Files> read() const;

  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::shared_ptr<const Files> files_;
  std::filesystem::file_time_type built_;
};

}  // namespace traceglass
