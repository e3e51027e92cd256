// How far the operator with most work stays below what its device can do, as evidence of a verdict.
#pragma once

#include <string>

#include "tb_backend/analysis/roofline.h"

namespace traceglass {

// "aten::mm runs at 62.5 TFLOP/s, 50.0 % of its roof."; of all shapes of the operator with most
// time together. "" where work or roof are unknown.
std::string roof_words(const Roofline& roofline);

}  // namespace traceglass
