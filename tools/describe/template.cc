// SPDX-License-Identifier: Apache-2.0
#include "tools/describe/template.h"

#include <fmt/format.h>

namespace vmnuma::tools {

Result<std::string> fill_template(std::string_view text, const Section& section) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.starts_with('@')) {
      out += fmt::format("{}\n", line);
    } else if (const auto filled = section(line)) {
      out += *filled;
    } else {
      return failure(ErrorCode::kInvalidArgument, fmt::format("there is no section '{}'", line));
    }
  }
  return out;
}

}  // namespace vmnuma::tools
