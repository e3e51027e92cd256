// The same through NVIDIA's own headers; and our words for their interface are theirs.
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "libtrace/nvtx/abi.h"

namespace abi = libtrace::nvtx;

static_assert(sizeof(abi::EventAttributes) == sizeof(nvtxEventAttributes_t));
static_assert(offsetof(abi::EventAttributes, category) ==
              offsetof(nvtxEventAttributes_t, category));
static_assert(offsetof(abi::EventAttributes, payload_type) ==
              offsetof(nvtxEventAttributes_t, payloadType));
static_assert(offsetof(abi::EventAttributes, payload) == offsetof(nvtxEventAttributes_t, payload));
static_assert(offsetof(abi::EventAttributes, message_type) ==
              offsetof(nvtxEventAttributes_t, messageType));
static_assert(offsetof(abi::EventAttributes, message) == offsetof(nvtxEventAttributes_t, message));
static_assert(sizeof(abi::ExportTableCallbacks) == sizeof(NvtxExportTableCallbacks));
static_assert(int{abi::kCoreModule} == NVTX_CB_MODULE_CORE);
static_assert(int{abi::kCore2Module} == NVTX_CB_MODULE_CORE2);
static_assert(std::uint32_t{abi::kCallbacksTable} == NVTX_ETID_CALLBACKS);
static_assert(int{abi::kRangeStartEx} == NVTX_CBID_CORE_RangeStartEx);
static_assert(int{abi::kRangePushA} == NVTX_CBID_CORE_RangePushA);
static_assert(int{abi::kRangePop} == NVTX_CBID_CORE_RangePop);
static_assert(int{abi::kNameCategoryW} == NVTX_CBID_CORE_NameCategoryW);
static_assert(int{abi::kDomainRangePop} == NVTX_CBID_CORE2_DomainRangePop);
static_assert(int{abi::kDomainNameCategoryA} == NVTX_CBID_CORE2_DomainNameCategoryA);
static_assert(int{abi::kDomainCreateW} == NVTX_CBID_CORE2_DomainCreateW);
static_assert(int{abi::kUnicode} == NVTX_MESSAGE_TYPE_UNICODE);
static_assert(int{abi::kRegistered} == NVTX_MESSAGE_TYPE_REGISTERED);
static_assert(int{abi::kDouble} == NVTX_PAYLOAD_TYPE_DOUBLE);
static_assert(int{abi::kFloat} == NVTX_PAYLOAD_TYPE_FLOAT);
static_assert(abi::kNoPushPopTracking == NVTX_NO_PUSH_POP_TRACKING);

int main() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = 42;

  bool as_expected = nvtxRangePushA("outer") == 0;
  as_expected = nvtxDomainRangePushEx(domain, &event) == 0 && as_expected;
  as_expected = nvtxDomainRangePop(domain) == 0 && as_expected;
  const nvtxRangeId_t request = nvtxRangeStartA("request");
  as_expected = nvtxRangePop() == 0 && as_expected;
  nvtxRangeEnd(request);
  nvtxMarkA("mark");
  return as_expected ? 0 : 1;
}
