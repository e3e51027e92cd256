#include "tb_backend/api/note_feed.h"

#include <utility>

#include "tb_backend/api/notes_json.h"

namespace traceglass {
namespace {

constexpr std::size_t kKept = 512;   // events in memory
constexpr std::size_t kBatch = 256;  // read from the file at a time

std::string event_bytes(const char* type, std::int64_t seq, const std::string& data) {
  // One line: dump() writes no line end.
  return "id: " + std::to_string(seq) + "\nevent: " + type + "\ndata: " + data + "\n\n";
}

}  // namespace

class NoteFeed::Stream : public ReplyStream {
 public:
  Stream(NoteFeed& feed, std::int64_t after, std::int64_t reset)
      : feed_(feed), after_(after), reset_(reset) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() override {
    const std::lock_guard lock(feed_.mutex_);
    --feed_.followers_;
  }
  bool next(std::string& bytes) override { return feed_.next(*this, bytes); }

 private:
  friend class NoteFeed;
  NoteFeed& feed_;
  std::int64_t after_, reset_;
  bool begun_ = false;
};

NoteFeed::NoteFeed(NoteStore& store) : store_(store) {}

NoteFeed::~NoteFeed() {
  stop();
  if (looker_.joinable()) looker_.join();
}

std::shared_ptr<ReplyStream> NoteFeed::follow(std::int64_t after) {
  catch_up();
  const std::lock_guard lock(mutex_);
  if (stopping_ || followers_ >= kMostFollowers) return nullptr;
  ++followers_;
  if (!looker_.joinable()) looker_ = std::thread([this] { look(); });
  news_.notify_all();
  // Somebody who has seen more than there is looked at another file.
  return std::make_shared<Stream>(*this, after, after > last_ ? reset_ - 1 : reset_);
}

void NoteFeed::changed() { catch_up(); }

void NoteFeed::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  news_.notify_all();
}

std::size_t NoteFeed::followers() {
  const std::lock_guard lock(mutex_);
  return followers_;
}

void NoteFeed::look() {
  std::int64_t version = -1;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [this] { return stopping_ || followers_ > 0; });
      const auto until = std::chrono::steady_clock::now() + kLook;
      news_.wait_until(lock, until, [this] { return stopping_; });
      if (stopping_) return;
    }
    const std::int64_t now = store_.version();
    if (now != version) catch_up();
    version = now;
  }
}

std::deque<NoteFeed::Event> NoteFeed::read_after(std::int64_t seq, std::size_t limit) {
  std::deque<Event> out;
  const auto found = store_.changes_after(seq, limit);
  const auto* changes = std::get_if<std::vector<NoteChange>>(&found);
  if (changes == nullptr) return out;
  for (const NoteChange& change : *changes) {
    const auto thread = store_.find(change.thread);
    const auto* ok = std::get_if<NoteThread>(&thread);
    if (ok == nullptr) continue;
    const std::string data = dump(note_change_json(change, *ok));
    out.push_back(
        {change.seq, std::make_shared<const std::string>(event_bytes("change", change.seq, data))});
  }
  return out;
}

void NoteFeed::catch_up() {
  const std::lock_guard pulling(pulling_);
  const auto found = store_.last_change();
  const auto* newest = std::get_if<std::int64_t>(&found);
  if (newest == nullptr) return;  // it says so to whoever writes or lists
  std::int64_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    if (*newest < last_) {
      recent_.clear();
      last_ = *newest;
      ++reset_;
      news_.notify_all();
    }
    last = last_;
  }
  if (*newest == last) return;
  // What is older than the batch, a stream reads by itself.
  std::deque<Event> events =
      read_after(std::max(last, *newest - static_cast<std::int64_t>(kBatch)), kBatch);
  const std::lock_guard lock(mutex_);
  if (*newest - last > static_cast<std::int64_t>(kBatch)) recent_.clear();
  for (Event& event : events) recent_.push_back(std::move(event));
  while (recent_.size() > kKept) recent_.pop_front();
  last_ = *newest;
  news_.notify_all();
}

std::deque<NoteFeed::Event> NoteFeed::after(std::int64_t seq) {
  {
    const std::lock_guard lock(mutex_);
    if (!recent_.empty() && recent_.front().seq <= seq + 1) {
      std::deque<Event> out;
      for (const Event& event : recent_) {
        if (event.seq > seq) out.push_back(event);
      }
      return out;
    }
  }
  return read_after(seq, kBatch);
}

bool NoteFeed::next(Stream& stream, std::string& bytes) {
  if (!stream.begun_) {
    stream.begun_ = true;
    bytes += "retry: 1000\n\n";
    return true;  // headers and this at once: the browser knows that it is connected
  }
  {
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, kHeartbeat,
                   [&] { return stopping_ || reset_ != stream.reset_ || last_ > stream.after_; });
    if (stopping_) return false;
    if (reset_ != stream.reset_) {
      stream.reset_ = reset_;
      stream.after_ = last_;
      bytes += event_bytes("reset", last_, "{}");
      return true;
    }
    if (last_ <= stream.after_) {
      bytes += ": still here\n\n";
      return true;
    }
  }
  const std::deque<Event> events = after(stream.after_);
  for (const Event& event : events) bytes += *event.bytes;
  if (!events.empty()) {
    stream.after_ = events.back().seq;
  } else {
    const std::lock_guard lock(mutex_);
    stream.after_ = std::max(stream.after_, last_);  // its thread is gone: nothing to show
    bytes += ": nothing to show\n\n";
  }
  return true;
}

}  // namespace traceglass
