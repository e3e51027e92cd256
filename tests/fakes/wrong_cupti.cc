// A library that answers to CUPTI's name and has next to nothing of it.
extern "C" __attribute__((visibility("default"))) int cuptiGetVersion(unsigned* version) {
  *version = 0;
  return 0;
}
