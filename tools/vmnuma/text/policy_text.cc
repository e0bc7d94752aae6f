// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/vmnuma/text/listing.h"
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
  return out + "\n" + text_of(listing_of(view), ListFormat::kTable);
}

Listing listing_of(const balancer::PolicyView& view) {
  Listing listing;
  listing.columns = {{"key", "KEY"},
                     {"value", "VALUE"},
                     {"origin", "FROM"},
                     {"allowed", "ALLOWED"},
                     {"help", "MEANING", Align::kLeft, Shown::kWide}};
  for (const balancer::PolicyKeyView& key : view.keys) {
    listing.names.push_back(key.name);
    listing.rows.push_back({cell(key.name), cell_if_any(key.value), cell(name_of(key.origin)),
                            cell(key.allowed), cell(key.help)});
  }
  return listing;
}

}  // namespace vmnuma::tools
