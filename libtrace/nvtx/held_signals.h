// Threads of ours take no signal of the host: one made while this lives is born with all of them
// blocked, and stays so.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace libtrace::nvtx {

class HeldSignals {
 public:
  HeldSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace libtrace::nvtx
