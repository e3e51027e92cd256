#include "libtrace/cupti/api.h"

#include "libtrace/cupti/function_finder.h"

namespace libtrace::cupti {

std::string find_functions(void* library, CuptiApi& api) {
  FunctionFinder find(library);
  find.required("cuptiGetVersion", api.GetVersion);
  find.required("cuptiGetResultString", api.GetResultString);
  find.required("cuptiGetCallbackName", api.GetCallbackName);
  find.required("cuptiGetDeviceId", api.GetDeviceId);
  find.required("cuptiGetContextId", api.GetContextId);
  find.required("cuptiSubscribe", api.Subscribe);
  find.required("cuptiUnsubscribe", api.Unsubscribe);
  find.required("cuptiEnableCallback", api.EnableCallback);
  find.required("cuptiActivityRegisterCallbacks", api.ActivityRegisterCallbacks);
  find.required("cuptiActivityEnable", api.ActivityEnable);
  find.required("cuptiActivityDisable", api.ActivityDisable);
  find.required("cuptiActivityFlushAll", api.ActivityFlushAll);
  find.required("cuptiActivityGetNextRecord", api.ActivityGetNextRecord);
  find.required("cuptiActivityGetNumDroppedRecords", api.ActivityGetNumDroppedRecords);
  find.required("cuptiActivitySetAttribute", api.ActivitySetAttribute);

  find.optional("cuptiSetThreadIdType", api.SetThreadIdType);
  find.optional("cuptiActivityFlushPeriod", api.ActivityFlushPeriod);
  find.optional("cuptiActivityRegisterTimestampCallback", api.ActivityRegisterTimestampCallback);
  find.optional("cuptiActivityEnableRuntimeApi", api.ActivityEnableRuntimeApi);
  find.optional("cuptiActivityEnableDriverApi", api.ActivityEnableDriverApi);
  find.optional("cuptiSubscribe_v2", api.Subscribe_v2);
  return find.missing();
}

}  // namespace libtrace::cupti
