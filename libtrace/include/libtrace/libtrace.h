// All of libtrace: recording, results, exports. `torch.h` stands apart, for programs with libtorch.
#pragma once

#include "libtrace/exports.h"
#include "libtrace/key_averages.h"
#include "libtrace/memory_tags.h"
#include "libtrace/profile.h"
#include "libtrace/range.h"
#include "libtrace/record_function.h"
#include "libtrace/results.h"
#include "libtrace/schedule.h"
#include "libtrace/supported_activities.h"
#include "libtrace/tensorboard_trace_handler.h"
#include "libtrace/trace.h"
