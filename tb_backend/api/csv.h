// One field of a CSV row, whatever the text: quoted where it must be, harmless in a spreadsheet.
#pragma once

#include <string>

namespace traceglass {

std::string csv_field(std::string text);

}  // namespace traceglass
