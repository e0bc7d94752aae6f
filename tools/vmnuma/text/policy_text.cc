// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

std::string text_of(const balancer::PolicyView& view) {
  std::string out = fmt::format("VM {} ({})\n", printable(view.vm), printable(view.vm_uuid));
  if (!view.refused.empty()) {
    out += wrapped(
        "The policy in its metadata is refused, and it is left where it is: " + view.refused,
        /*indent=*/0);
  }
  if (!view.metadata_wins) {
    out += wrapped("Metadata does not count, because metadata_wins is false.", /*indent=*/0);
  }
  Table table({{"KEY"}, {"VALUE"}, {"FROM"}, {"ALLOWED"}});
  for (const auto& key : view.keys) {
    table.add_row({key.name, key.value.empty() ? "-" : key.value, std::string(name_of(key.origin)),
                   key.allowed});
  }
  return out + "\n" + table.text();
}

}  // namespace vmnuma::tools
