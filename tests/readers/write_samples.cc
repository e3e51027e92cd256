// write_samples LOGDIR: records with everything on, host and (a fake) device, and writes a log
// directory for other people's readers to open.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include "libtrace/libtrace.h"
#include "tests/fakes/fake_cupti.h"

namespace {

using libtrace::Detail;
using libtrace::RecordScope;

decltype(&fake_cupti_run) fake_run = nullptr;

void on_device(const char* script) {
  if (const char* error = fake_run(script); error != nullptr) throw std::runtime_error(error);
}

void op(const char* name, const char* script) {
  const std::int64_t sizes[] = {64, 128};
  libtrace::Input input;
  input.kind = libtrace::Input::Kind::kTensor;
  input.sizes = sizes;
  input.dims = 2;
  input.type = "float";
  libtrace::RangeDetails details;
  details.inputs = &input;
  details.input_count = 1;
  libtrace::OpenRange* range = libtrace::begin_range(name, RecordScope::kFunction, details);
  if (script != nullptr) on_device(script);
  libtrace::MemoryReport memory;
  memory.address = 0x1000;
  memory.bytes = 4096;
  libtrace::report_memory(memory);
  memory.bytes = -4096;
  libtrace::report_memory(memory);
  libtrace::end_range(range);
}

void step() {
  LIBTRACE_SCOPE("train_step \"quoted\" \\ \n \xff");
  libtrace::ModuleScope module("encoder");
  op("aten::to", "mark\nmemcpy bytes=4096 kind=1 src=1 dst=3 gpufor=1000\n");
  op("aten::mm", "mark\nlaunch kernel=sgemm grid=264 block=256 stream=7\n");
  op("aten::relu", nullptr);
  libtrace::AsyncRange async("send");
  std::thread other([&] {
    LIBTRACE_OP("aten::item");
    async.end();
  });
  other.join();
  libtrace::mark("halfway");
  libtrace::count("queue", 3);
}

int write(const char* logdir) {
  void* cupti = dlopen(std::getenv("LIBTRACE_CUPTI_LIB"), RTLD_NOW | RTLD_LOCAL);
  if (cupti == nullptr) throw std::runtime_error(dlerror());
  fake_run = reinterpret_cast<decltype(fake_run)>(dlsym(cupti, "fake_cupti_run"));
  on_device("reset\nversion 130001");
  libtrace::Schedule schedule;
  schedule.wait = schedule.warmup = 1;
  schedule.active = 3;
  schedule.repeat = 2;
  libtrace::Options options;
  options.activities = libtrace::Activities::cpu() | libtrace::Activities::cuda();
  options.schedule = libtrace::Schedule::make(schedule);
  options.record_shapes = options.profile_memory = options.with_stack = true;
  options.with_flops = options.with_modules = options.cuda_sync_events = true;
  options.distributed = libtrace::DistributedInfo{"nccl", 3, 8};
  options.on_trace_ready = libtrace::tensorboard_trace_handler(logdir, "host_1", true);
  libtrace::Profiler profiler(options);
  profiler.start();
  for (int i = 0; i < 10; ++i) {
    step();
    profiler.step();
  }
  profiler.stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc > 1 ? write(argv[1]) : 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
