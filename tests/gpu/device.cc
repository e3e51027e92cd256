#include "tests/gpu/device.h"

namespace gpu {

// Of Maxwell's time, so that every driver translates it for its device.
const char kPtx[] = R"(
.version 6.0
.target sm_52
.address_size 64

.visible .entry empty()
{
  ret;
}

.visible .entry scale(.param .u64 data, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd4], %f2;
DONE:
  ret;
}

.visible .entry spin(.param .u64 ns)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [ns];
  mov.u64 %rd2, %globaltimer;
LOOP:
  mov.u64 %rd3, %globaltimer;
  sub.s64 %rd4, %rd3, %rd2;
  setp.lt.u64 %p1, %rd4, %rd1;
  @%p1 bra LOOP;
  ret;
}
)";

Device* Device::find() {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  static Device device(library);
  static const bool is_open = library != nullptr && device.open();
  return is_open ? &device : nullptr;
}

bool Device::open() {
  Result (*init)(unsigned) = nullptr;
  Result (*count)(int*) = nullptr;
  Result (*get)(int*, int) = nullptr;
  Result (*retain)(Handle*, int) = nullptr;
  Result (*set_current)(Handle) = nullptr;
  Result (*load_module)(Handle*, const void*) = nullptr;
  const bool found =
      load("cuInit", init) && load("cuDeviceGetCount", count) && load("cuDeviceGet", get) &&
      load("cuDevicePrimaryCtxRetain", retain) && load("cuCtxSetCurrent", set_current) &&
      load("cuModuleLoadData", load_module) && load("cuCtxSynchronize", ctx_synchronize_) &&
      load("cuStreamSynchronize", stream_synchronize_) && load("cuStreamCreate", stream_create_) &&
      load("cuModuleGetFunction", get_function_) && load("cuMemAlloc_v2", mem_alloc_) &&
      load("cuMemFree_v2", mem_free_) && load("cuMemcpyHtoDAsync_v2", memcpy_to_device_) &&
      load("cuMemcpyDtoHAsync_v2", memcpy_to_host_) && load("cuMemsetD8Async", memset_) &&
      load("cuLaunchKernel", launch_) && load("cuStreamBeginCapture_v2", begin_capture_) &&
      load("cuStreamEndCapture", end_capture_) &&
      load("cuGraphInstantiateWithFlags", instantiate_) && load("cuGraphLaunch", graph_launch_);
  int devices = 0, device = 0;
  if (!found || init(0) != 0 || count(&devices) != 0 || devices == 0) return false;
  Handle context = nullptr;
  check(get(&device, 0), "cuDeviceGet");
  check(retain(&context, device), "cuDevicePrimaryCtxRetain");
  check(set_current(context), "cuCtxSetCurrent");
  check(load_module(&module_, kPtx), "cuModuleLoadData");
  return true;
}

Handle Device::function(const char* name) {
  Handle f = nullptr;
  check(get_function_(&f, module_, name), "cuModuleGetFunction");
  return f;
}

Handle Device::new_stream() {
  Handle stream = nullptr;
  check(stream_create_(&stream, 1), "cuStreamCreate");  // does not wait for the default stream
  return stream;
}

Address Device::allocate(std::size_t bytes) {
  Address address = 0;
  check(mem_alloc_(&address, bytes), "cuMemAlloc");
  return address;
}

}  // namespace gpu
