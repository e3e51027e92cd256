#include "examples/train_mlp/data_loader.h"

#include <pthread.h>

#include <utility>

#include "libtrace/record_function.h"

namespace example {

DataLoader::DataLoader(std::size_t batch_size, unsigned seed)
    : batch_size_(batch_size), random_(seed), worker_([this] { run(); }) {}

DataLoader::~DataLoader() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

Batch DataLoader::next() {
  LIBTRACE_SCOPE("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty(); });
  Batch batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

void DataLoader::run() {
  pthread_setname_np(pthread_self(), "data_loader");
  for (;;) {
    Batch batch;
    {
      LIBTRACE_SCOPE("make_batch");
      batch = draw_digits(batch_size_, random_);
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stops_ || ready_.size() < kAhead; });
    if (stops_) return;
    ready_.push_back(std::move(batch));
    changed_.notify_all();
  }
}

}  // namespace example
