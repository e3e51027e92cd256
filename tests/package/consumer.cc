// Records two cycles of a loop into argv[1] with nothing but the installed headers.
#include <libtrace/profile.h>
#include <libtrace/tensorboard_trace_handler.h>

#include <cstdio>

int train_step();

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  libtrace::Schedule schedule;
  schedule.warmup = 1;
  schedule.active = 2;
  schedule.repeat = 2;
  libtrace::Options options;
  options.schedule = libtrace::Schedule::make(schedule);
  options.on_trace_ready = libtrace::tensorboard_trace_handler(argv[1], "consumer", true);
  libtrace::Profiler profiler(options);
  profiler.start();
  int sum = 0;
  for (int i = 0; i < 6; ++i) {
    sum += train_step();
    profiler.step();
  }
  profiler.stop();
  std::printf("%d steps, %zu events in the last cycle\n", sum,
              static_cast<std::size_t>(profiler.trace()->size()));
  return profiler.trace()->size() > 0 ? 0 : 1;
}
