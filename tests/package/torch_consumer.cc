// Links the installed adapter beside libtorch; what it records is tested where it is built.
#include <libtrace/libtrace.h>
#include <libtrace/torch.h>

int main() {
  if (!libtrace::observe_torch().ok()) return 1;
  libtrace::Profiler profiler{libtrace::Options()};
  profiler.start();
  profiler.stop();
  return profiler.trace() != nullptr ? 0 : 1;
}
