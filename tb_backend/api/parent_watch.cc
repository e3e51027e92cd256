#include "tb_backend/api/parent_watch.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <thread>

namespace traceglass {
namespace {

void wait_for_end_of_input(pid_t parent) {
  constexpr int kCheckMs = 2000;  // the parent's death, where its pipe is held open by others
  while (::getppid() == parent) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, kCheckMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    std::array<char, 256> ignored{};
    const ssize_t n = ready < 0 ? 0 : ::read(STDIN_FILENO, ignored.data(), ignored.size());
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) break;
  }
  std::_Exit(0);
}

}  // namespace

void exit_with_parent() {
  const pid_t parent = ::getppid();
  // Not PR_SET_PDEATHSIG: that fires when the *thread* that started us ends, and TensorBoard starts
  // its plugins from a request's thread.
  std::thread(wait_for_end_of_input, parent).detach();
}

}  // namespace traceglass
