// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/report_text.h"

#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

std::string text_of(const stats::Report& report) {
  stats::Report safe = report;
  for (auto& row : safe.rows) {
    for (stats::Cell& cell : row) {
      if (auto* word = std::get_if<std::string>(&cell)) {
        *word = printable(*word);
      }
    }
  }
  return stats::format_report(safe);
}

}  // namespace vmnuma::tools
