#include "tb_backend/api/note_feed.h"

#include <utility>

#include "tb_backend/api/note_news.h"
#include "tb_backend/api/notes_json.h"

namespace traceglass {
namespace {

constexpr std::size_t kKept = 512;                             // events in memory
constexpr std::size_t kKeptBytes = std::size_t{16} << 20U;     // of these
constexpr std::size_t kAtOnceBytes = std::size_t{256} << 10U;  // to one follower, and then some
constexpr std::size_t kBatch = 256;                            // read from the file at a time

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
  const bool known = catch_up();
  const std::lock_guard lock(mutex_);
  if (stopping_ || followers_ >= kMostFollowers) return nullptr;
  ++followers_;
  if (!looker_.joinable()) looker_ = std::thread([this] { look(); });
  news_.notify_all();
  // Somebody who has seen more than there is looked at another file.
  return std::make_shared<Stream>(*this, after, known && after > last_ ? reset_ - 1 : reset_);
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
    if (now != version && catch_up()) version = now;
  }
}

std::optional<NoteFeed::Events> NoteFeed::read_after(std::int64_t seq) {
  const auto found = note_news(store_, seq, kBatch);
  const auto* ok = std::get_if<NoteNews>(&found);
  if (ok == nullptr) return std::nullopt;
  Events out;
  for (const auto& [change, thread] : ok->news) {
    const std::string data = dump(note_change_json(change, thread));
    out.events.push_back(
        {change.seq, std::make_shared<const std::string>(event_bytes("change", change.seq, data))});
  }
  out.upto = ok->upto;
  return out;
}

void NoteFeed::keep(Events& read) {
  for (Event& event : read.events) {
    recent_bytes_ += event.bytes->size();
    recent_.push_back(std::move(event));
  }
  while (recent_.size() > kKept || recent_bytes_ > kKeptBytes) {
    recent_bytes_ -= recent_.front().bytes->size();
    recent_.pop_front();
  }
}

bool NoteFeed::catch_up() {
  const std::lock_guard pulling(pulling_);
  const auto found = store_.last_change();
  const auto* newest = std::get_if<std::int64_t>(&found);
  if (newest == nullptr) return false;  // it says so to whoever writes or lists
  std::int64_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    const bool replaced = *newest < last_;
    // What is older than a batch, a stream reads by itself.
    const bool far = *newest - last_ > static_cast<std::int64_t>(kBatch);
    if (replaced || far) {
      recent_.clear();
      recent_bytes_ = 0;
      last_ = replaced ? *newest : *newest - static_cast<std::int64_t>(kBatch);
    }
    if (replaced) {
      ++reset_;
      news_.notify_all();
    }
    last = last_;
  }
  while (last < *newest) {
    std::optional<Events> read = read_after(last);
    if (!read) return false;  // what is not read is asked for again
    last = read->upto > last ? read->upto : *newest;
    const std::lock_guard lock(mutex_);
    keep(*read);
    last_ = last;
    news_.notify_all();
  }
  return true;
}

std::optional<NoteFeed::Events> NoteFeed::after(std::int64_t seq) {
  {
    const std::lock_guard lock(mutex_);
    if (!recent_.empty() && recent_.front().seq <= seq + 1) {
      Events out;
      for (const Event& event : recent_) {
        if (event.seq > seq) out.events.push_back(event);
      }
      out.upto = last_;
      return out;
    }
  }
  return read_after(seq);
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
  const std::optional<Events> read = after(stream.after_);
  if (!read) {
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, kLook, [this] { return stopping_; });
    bytes += ": the notes cannot be read now\n\n";
    return true;
  }
  std::int64_t upto = read->upto;
  for (const Event& event : read->events) {
    if (bytes.size() >= kAtOnceBytes) break;
    bytes += *event.bytes;
    upto = &event == &read->events.back() ? read->upto : event.seq;
  }
  if (read->events.empty()) bytes += ": nothing to show\n\n";  // the threads are gone
  stream.after_ = std::max(stream.after_, upto);
  return true;
}

}  // namespace traceglass
