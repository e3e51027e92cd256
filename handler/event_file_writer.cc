#include "handler/event_file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "proto/event.pb.h"
#include "proto/masked_crc.h"

namespace libtrace {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string file_name() {
  static std::atomic<int> count{0};  // several writers of one process and second
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') std::strcpy(host, "localhost");
  return "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(now_seconds())) + "." +
         host + "." + std::to_string(getpid()) + "." + std::to_string(count++);
}

template <class T>
void append_little_endian(std::string& out, T v) {
  for (std::size_t i = 0; i < sizeof v; ++i) out += static_cast<char>(v >> (8 * i) & 0xFF);
}

}  // namespace

EventFileWriter::EventFileWriter(std::filesystem::path dir) : path_(std::move(dir) / file_name()) {
  open(O_EXCL, now_seconds());
}

EventFileWriter::EventFileWriter(EventFileName name) : path_(std::move(name.path)) {
  open(O_TRUNC, name.wall_time);
}

void EventFileWriter::open(int flags, double wall_time) {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0644);
  if (fd_ < 0) {
    status_ = Status::io_error("Cannot create " + path_.string() + ": " + std::strerror(errno));
    return;
  }
  traceglass::proto::Event event;
  event.set_wall_time(wall_time);
  event.set_file_version("brain.Event:2");
  event.mutable_source_metadata()->set_writer("traceglass");
  status_ = append(event.SerializeAsString());
}

EventFileWriter::~EventFileWriter() {
  if (fd_ >= 0) close(fd_);
}

Status EventFileWriter::add_scalar(std::string_view tag, double value, std::int64_t step,
                                   double wall_time) {
  traceglass::proto::Event event;
  event.set_wall_time(wall_time != 0 ? wall_time : now_seconds());
  event.set_step(step);
  traceglass::proto::Summary::Value& scalar = *event.mutable_summary()->add_value();
  scalar.set_tag(std::string(tag));
  scalar.set_simple_value(static_cast<float>(value));
  return append(event.SerializeAsString());
}

Status EventFileWriter::append(std::string_view data) {
  if (!status_.ok()) return status_;
  std::string record;
  append_little_endian(record, std::uint64_t{data.size()});
  append_little_endian(record, traceglass::proto::masked_crc32c(record));
  record += data;
  append_little_endian(record, traceglass::proto::masked_crc32c(data));
  for (std::string_view rest = record; !rest.empty();) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      // What follows half a record cannot be read: no more is written.
      status_ = Status::io_error("Cannot write " + path_.string() + ": " + std::strerror(errno));
      return status_;
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace libtrace
