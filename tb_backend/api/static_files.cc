#include "tb_backend/api/static_files.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "tb_backend/api/problem.h"
#include "tb_backend/logdir/stable_hash.h"

namespace traceglass {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kLargestFile = 32U << 20U;  // a page is a few hundred kB

const char* type_of(const fs::path& path) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 10> kTypes = {{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".json", "application/json"},
      {".wasm", "application/wasm"},
      {".txt", "text/plain; charset=utf-8"},
  }};
  for (const auto& [extension, type] : kTypes) {
    if (path.extension() == extension) return type;
  }
  return "application/octet-stream";
}

bool has_page(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "index.html", error);
}

constexpr const char* kNoPage = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Traceglass</title></head><body>
<h1>The page is not built</h1>
<p>The server runs, but found no page to show. Build it with
<code>npm ci &amp;&amp; npm run build</code> in <code>web_frontend</code>, or start the server with
<code>--web-dir DIR</code> (or <code>TRACEGLASS_WEB=DIR</code>), DIR being the folder that holds its
<code>index.html</code>.</p>
<p>What the log directory holds is at <a href="api/runs">api/runs</a>.</p>
</body></html>
)";

}  // namespace

fs::path find_web_dir(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* env = std::getenv("TRACEGLASS_WEB"); env != nullptr && *env != '\0') return env;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path bin = program.parent_path();
  for (const fs::path& candidate :
       {bin / "web", bin.parent_path() / "web", bin.parent_path() / "web_frontend" / "dist",
        bin.parent_path().parent_path() / "web_frontend" / "dist",
        bin.parent_path() / "share" / "traceglass" / "web"}) {
    if (has_page(candidate)) return candidate;
  }
  return {};
}

StaticFiles::StaticFiles(fs::path folder) : folder_(std::move(folder)) {}

std::shared_ptr<const StaticFiles::Files> StaticFiles::read() const {
  auto files = std::make_shared<Files>();
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored) || it->file_size(ignored) > kLargestFile) continue;
    std::ifstream in(it->path(), std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    File file;
    file.type = type_of(it->path());
    const std::string name = it->path().lexically_relative(folder_).generic_string();
    file.etag = stable_hash(name + '\n' + text);
    file.body = std::make_shared<const std::string>(std::move(text));
    file.immutable = name.starts_with("static/");  // the build puts a hash into these names
    files->emplace(name, std::move(file));
  }
  return files;
}

std::shared_ptr<const StaticFiles::Files> StaticFiles::files() {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  const auto built = fs::last_write_time(folder_ / "index.html", error);
  if (!files_ || (!error && built != built_)) {
    files_ = read();
    if (!error) built_ = built;
  }
  return files_;
}

Reply StaticFiles::get(std::string_view name) {
  const auto all = files();
  const auto it = all->find(name.empty() ? std::string_view("index.html") : name);
  if (it != all->end()) {
    Reply reply;
    reply.type = it->second.type;
    reply.body = it->second.body;
    reply.etag = it->second.etag;
    reply.cache = it->second.immutable ? kImmutable : kRevalidate;
    return reply;
  }
  if (name.empty() || name == "index.html") {
    return Reply::text(503, "text/html; charset=utf-8", kNoPage);
  }
  return problem_reply({404, "not_found", "There is no such page or file here.", "", {}});
}

}  // namespace traceglass
