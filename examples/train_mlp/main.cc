// Trains a small network to read noisy digits, and leaves in one log directory what TensorBoard
// shows side by side: profiles of a few steps, and the curves of loss, accuracy and step time.
//
//   train_mlp [LOGDIR [STEPS]]      default: ./tb_logs/train_mlp, 300 steps
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>
#include <vector>

#include "examples/train_mlp/data_loader.h"
#include "examples/train_mlp/model.h"
#include "examples/train_mlp/ops.h"
#include "examples/train_mlp/sgd.h"
#include "handler/event_file_writer.h"
#include "libtrace/profile.h"
#include "libtrace/tensorboard_trace_handler.h"

namespace example {
namespace {

constexpr std::size_t kBatch = 64;
constexpr int kSteps = 300, kReportEvery = 50;
constexpr int kFewestSteps = 50;  // both profiled cycles, and a loss that has begun to fall

struct Result {
  float loss = 0, accuracy = 0;
};

Result train_step(Mlp& model, Sgd& optimizer, DataLoader& loader) {
  const Batch batch = loader.next();
  optimizer.zero_grad();
  const Tensor output = model.forward(batch.pixels);
  const Result result{nll_loss(output, batch.labels), accuracy(output, batch.labels)};
  model.backward(batch.labels);
  optimizer.step();
  return result;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int train(const std::filesystem::path& logdir, int steps) {
  std::mt19937 random(1);
  Mlp model({kPixels, 128, 64, kClasses}, random);
  Sgd optimizer(model.parameters(), 0.05F, 0.9F);
  DataLoader loader(kBatch, 2);
  libtrace::EventFileWriter scalars(logdir);
  if (!scalars.status().ok()) {
    std::fprintf(stderr, "%s\n", scalars.status().message().c_str());
    return 1;
  }

  int traces = 0;
  const auto write_trace = libtrace::tensorboard_trace_handler(logdir, {}, /*use_gzip=*/true);
  libtrace::Profiler profiler(
      {.schedule = libtrace::Schedule::make({.wait = 1, .warmup = 1, .active = 3, .repeat = 2}),
       .on_trace_ready = [&](const libtrace::TracePtr& trace) {
         write_trace(trace);
         ++traces;
       }});
  profiler.start();
  Result first, last;
  for (int step = 0; step < steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    last = train_step(model, optimizer, loader);
    const double step_ms = 1e3 * seconds_since(start);
    profiler.step();
    if (step == 0) first = last;

    for (const libtrace::Status& written :
         {scalars.add_scalar("train/loss", last.loss, step),
          scalars.add_scalar("train/accuracy", last.accuracy, step),
          scalars.add_scalar("train/step_time_ms", step_ms, step)}) {
      if (written.ok()) continue;
      std::fprintf(stderr, "%s\n", written.message().c_str());
      return 1;
    }
    if (step % kReportEvery == 0 || step == steps - 1) {
      std::printf("step %3d  loss %.3f  accuracy %.2f  %.2f ms\n", step, last.loss, last.accuracy,
                  step_ms);
    }
  }
  profiler.stop();

  std::mt19937 unseen(3);
  const Batch test = draw_digits(1000, unseen);
  const float test_accuracy = accuracy(model.forward(test.pixels), test.labels);
  std::printf("loss %.3f -> %.3f, accuracy on 1000 unseen digits %.3f\n", first.loss, last.loss,
              test_accuracy);
  std::printf("%d traces and the scalars of %d steps in %s\n", traces, steps, logdir.c_str());
  return last.loss < first.loss ? 0 : 1;
}

constexpr std::string_view kUsage =
    "train_mlp [LOGDIR [STEPS]]\n"
    "  LOGDIR  where profiles and scalars go; tb_logs/train_mlp\n"
    "  STEPS   50 or more, for two profiled cycles and a loss that falls; 300\n";

std::optional<int> parse_steps(std::string_view text) {
  int steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && steps >= kFewestSteps ? std::optional(steps) : std::nullopt;
}

int run(const std::vector<std::string_view>& args) {
  for (const std::string_view arg : args) {
    if (arg == "-h" || arg == "--help") {
      std::fputs(kUsage.data(), stdout);
      return 0;
    }
  }
  const std::optional<int> steps = args.size() > 1 ? parse_steps(args[1]) : kSteps;
  if (args.size() > 2 || !steps || (!args.empty() && args[0].substr(0, 1) == "-")) {
    std::fputs(kUsage.data(), stderr);
    return 2;
  }
  return train(args.empty() ? "tb_logs/train_mlp" : args[0], *steps);
}

}  // namespace
}  // namespace example

int main(int argc, char** argv) {
  try {
    return example::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
