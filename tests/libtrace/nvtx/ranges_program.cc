// Uses every function of NVTX that the library knows. Fails when one answers wrongly.
#include <cstdio>
#include <string_view>
#include <thread>

#include "tests/libtrace/nvtx/nvtx_client.h"

using namespace libtrace::nvtx;
using namespace nvtx_client;

namespace {

int failures = 0;
void expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  ++failures;
}

EventAttributes event(const char* message) {
  EventAttributes e{};
  e.version = 3;
  e.size = sizeof e;
  e.message_type = kAscii;
  e.message.ascii = message;
  return e;
}

void nested() {
  expect(push("outer") == 0, "the outermost level is 0");
  expect(push("inner") == 1, "the next is 1");
  expect(call<int>(core[kRangePushW], L"wide \u00e9 \U0001F600") == 2, "a wide one nests too");
  expect(pop() == 2, "popped in turn");
  expect(pop() == 1, "popped in turn");
  expect(pop() == 0, "popped in turn");
  expect(pop() == kNoPushPopTracking, "there is none to pop");
}

void domains() {
  const void* const domain = call<const void*>(core2[kDomainCreateA], "library");
  const void* const name = call<const void*>(core2[kDomainRegisterStringA], domain, "registered");
  call<void>(core2[kDomainNameCategoryA], domain, 7U, "loading");
  EventAttributes e = event(nullptr);
  e.message_type = kRegistered;
  e.message.registered = name;
  e.category = 7;
  e.payload_type = kInt32;
  e.payload.i32 = -5;
  const EventAttributes* const attributes = &e;
  expect(push("around") == 0, "default domain");
  expect(call<int>(core2[kDomainRangePushEx], domain, attributes) == 0, "a domain counts alone");
  expect(call<int>(core2[kDomainRangePop], domain) == 0, "its own range");
  expect(pop() == 0, "the default domain's");
  e.message_type = kAscii;
  e.message.ascii = "marked";
  e.category = 8;
  e.payload_type = kDouble;
  e.payload.f64 = 0.5;
  call<void>(core2[kDomainMarkEx], domain, attributes);
}

void shared_between_threads() {
  const auto id = call<RangeId>(core[kRangeStartA], "request");
  const EventAttributes second = event("second");
  const auto other = call<RangeId>(core[kRangeStartEx], &second);
  expect(id == 0 || id != other, "ids differ, but where nothing records");
  std::thread([id] { call<void>(core[kRangeEnd], id); }).join();
  call<void>(core[kRangeEnd], id);              // for a second time
  call<void>(core[kRangeEnd], RangeId{12345});  // nobody's
  call<void>(core[kRangeEnd], other);
}

void odd() {
  EventAttributes short_one = event("too short to be read");
  short_one.size = 8;
  expect(call<int>(core[kRangePushEx], static_cast<const EventAttributes*>(&short_one)) == 0,
         "no message");
  pop();
  expect(push(nullptr) == 0, "no name");
  pop();
  push("\"quoted\"\n\xff");
  pop();
  for (int i = 0; i < 1500; ++i) push("deep");
  for (int i = 0; i < 1500; ++i) pop();
  expect(pop() == kNoPushPopTracking, "as many pops as pushes");
  call<void>(core[kMarkA], "mark");
}

}  // namespace

int main() {
  const bool tool = initialize();
  if (!tool) return std::getenv("NVTX_INJECTION64_PATH") == nullptr ? 0 : 3;
  nested();
  domains();
  shared_between_threads();
  odd();
  push("open at the end");
  return failures == 0 ? 0 : 1;
}
