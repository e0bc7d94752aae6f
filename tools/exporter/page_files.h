// SPDX-License-Identifier: Apache-2.0
/// The files of page/, embedded at build time by embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace vmnuma::tools {

struct PageFile {
  std::string_view path;  ///< "/style.css"
  std::string_view content_type;
  std::string_view text;
};

[[nodiscard]] std::span<const PageFile> page_files();

}  // namespace vmnuma::tools
