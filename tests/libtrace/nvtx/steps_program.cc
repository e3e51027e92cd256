// A loop of ten iterations, as a training program names them.
#include "tests/libtrace/nvtx/nvtx_client.h"

int main() {
  if (!nvtx_client::initialize()) return 3;
  nvtx_client::push("set-up");
  nvtx_client::pop();
  for (int i = 0; i < 10; ++i) {
    nvtx_client::push("iteration");
    nvtx_client::push("forward");
    nvtx_client::pop();
    nvtx_client::pop();
  }
  return 0;
}
