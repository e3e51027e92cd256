// Changes of the notes as server-sent events for everybody who looks: each has the change's number
// as its id, so that a browser that comes back says where it was and misses nothing. What another
// server on the same file wrote is seen too, by asking the file five times a second while somebody
// looks. An event is made once, however many look.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tb_backend/api/call.h"
#include "tb_backend/review/note_store.h"

namespace traceglass {

class NoteFeed {
 public:
  static constexpr std::size_t kMostFollowers = 256;
  static constexpr std::chrono::milliseconds kLook{200};
  static constexpr std::chrono::milliseconds kHeartbeat{10'000};

  explicit NoteFeed(NoteStore& store);
  ~NoteFeed();
  NoteFeed(const NoteFeed&) = delete;
  NoteFeed& operator=(const NoteFeed&) = delete;

  // Events after that change; null when too many follow already.
  std::shared_ptr<ReplyStream> follow(std::int64_t after);
  // To be called after a write of our own.
  void changed();
  // Ends all streams, and refuses new ones.
  void stop();

  [[nodiscard]] std::size_t followers();

 private:
  class Stream;
  struct Event {
    std::int64_t seq = 0;
    std::shared_ptr<const std::string> bytes;
  };

  struct Events {
    std::deque<Event> events;  // oldest first
    std::int64_t upto = 0;     // what is not in there up to this change has nothing to show
  };

  void look();              // the thread
  bool catch_up();          // reads what is new, tells everybody; false: it cannot be read now
  void keep(Events& read);  // mutex_ is held
  // Events after `seq`, not waiting; nothing: they cannot be read now.
  std::optional<Events> after(std::int64_t seq);
  std::optional<Events> read_after(std::int64_t seq);
  bool next(Stream& stream, std::string& bytes);

  NoteStore& store_;
  std::mutex pulling_;  // one reads the file; taken before mutex_
  std::mutex mutex_;    // guards all below
  std::condition_variable news_;
  std::deque<Event> recent_;  // of the changes up to last_, without a gap
  std::size_t recent_bytes_ = 0;
  std::int64_t last_ = 0;   // the newest change that is known
  std::int64_t reset_ = 0;  // how often the file was replaced by an older one
  std::size_t followers_ = 0;
  bool stopping_ = false;
  std::thread looker_;  // from the first follower on
};

}  // namespace traceglass
