// A part of the program that is built without run-time types, as nvcc users often do.
#include <libtrace/record_function.h>

int train_step() {
  LIBTRACE_SCOPE("train_step");
  LIBTRACE_RECORD_USER_SCOPE("a name made at run time");
  return 1;
}
