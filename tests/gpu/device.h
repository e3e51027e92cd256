// As much of the CUDA driver as the tests use, opened at run time, with an owner for each thing.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gpu {

using Result = int;
using Handle = struct Opaque*;  // contexts, modules, functions, streams, events, graphs
using Address = std::uint64_t;

// Three kernels: `empty` does nothing, `scale` doubles n floats, `spin` runs for so many ns.
extern const char kPtx[];

class Device {
 public:
  // nullptr when this machine has none.
  static Device* find();

  Handle function(const char* name);
  Handle new_stream();
  void synchronize() { check(ctx_synchronize_(), "cuCtxSynchronize"); }
  void synchronize(Handle stream) { check(stream_synchronize_(stream), "cuStreamSynchronize"); }

  Address allocate(std::size_t bytes);
  void free(Address address) { check(mem_free_(address), "cuMemFree"); }
  void to_device(Address to, const void* from, std::size_t bytes, Handle stream) {
    check(memcpy_to_device_(to, from, bytes, stream), "cuMemcpyHtoDAsync");
  }
  void to_host(void* to, Address from, std::size_t bytes, Handle stream) {
    check(memcpy_to_host_(to, from, bytes, stream), "cuMemcpyDtoHAsync");
  }
  void set(Address to, std::uint8_t value, std::size_t bytes, Handle stream) {
    check(memset_(to, value, bytes, stream), "cuMemsetD8Async");
  }
  void launch(Handle function, unsigned grid, unsigned block, void** arguments, Handle stream) {
    check(launch_(function, grid, 1, 1, block, 1, 1, 0, stream, arguments, nullptr),
          "cuLaunchKernel");
  }

  // What `work` puts on the stream, as a graph that can be launched.
  template <class F>
  Handle capture(Handle stream, F&& work) {
    Handle graph = nullptr, executable = nullptr;
    check(begin_capture_(stream, 2), "cuStreamBeginCapture");  // relaxed
    work();
    check(end_capture_(stream, &graph), "cuStreamEndCapture");
    check(instantiate_(&executable, graph, 0), "cuGraphInstantiateWithFlags");
    return executable;
  }
  void launch_graph(Handle executable, Handle stream) {
    check(graph_launch_(executable, stream), "cuGraphLaunch");
  }

 private:
  explicit Device(void* library) : library_(library) {}
  bool open();
  template <class F>
  bool load(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library_, name));
    return function != nullptr;
  }
  static void check(Result result, const char* call) {
    if (result != 0) {
      throw std::runtime_error(std::string(call) + " answers CUresult " + std::to_string(result));
    }
  }

  void* library_;
  Handle module_ = nullptr;
  Result (*ctx_synchronize_)() = nullptr;
  Result (*stream_synchronize_)(Handle) = nullptr;
  Result (*stream_create_)(Handle*, unsigned) = nullptr;
  Result (*get_function_)(Handle*, Handle, const char*) = nullptr;
  Result (*mem_alloc_)(Address*, std::size_t) = nullptr;
  Result (*mem_free_)(Address) = nullptr;
  Result (*memcpy_to_device_)(Address, const void*, std::size_t, Handle) = nullptr;
  Result (*memcpy_to_host_)(void*, Address, std::size_t, Handle) = nullptr;
  Result (*memset_)(Address, std::uint8_t, std::size_t, Handle) = nullptr;
  Result (*launch_)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    Handle, void**, void**) = nullptr;
  Result (*begin_capture_)(Handle, int) = nullptr;
  Result (*end_capture_)(Handle, Handle*) = nullptr;
  Result (*instantiate_)(Handle*, Handle, unsigned long long) = nullptr;
  Result (*graph_launch_)(Handle, Handle) = nullptr;
};

}  // namespace gpu
