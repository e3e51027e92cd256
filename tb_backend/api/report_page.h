// A report as one page: the built page in one file, and packed within it all that it would ask for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "tb_backend/api/router.h"

namespace traceglass {

// The built page that reports are made of, of the folder of the page; "" if it is not there.
std::string report_template(const std::filesystem::path& web_dir);

// `text`: what a reader without JavaScript sees. At most about `most_bytes`: what is worth least is
// left out. The trace must be loaded. "" where `page` is no template.
std::string report_page(const std::string& page, Services& services, const LoadedTrace& loaded,
                        const std::string& text, std::size_t most_bytes);

}  // namespace traceglass
