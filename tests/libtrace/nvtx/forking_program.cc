// A worker process that names ranges of its own and ends as programs do.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/libtrace/nvtx/nvtx_client.h"

int main() {
  if (!nvtx_client::initialize()) return 3;
  nvtx_client::push("parent");
  const pid_t worker = fork();
  if (worker == 0) {
    nvtx_client::push("worker");
    nvtx_client::pop();
    nvtx_client::pop();  // what the parent pushed
    std::exit(0);
  }
  int status = -1;
  waitpid(worker, &status, 0);
  nvtx_client::pop();
  return status == 0 ? 0 : 1;
}
