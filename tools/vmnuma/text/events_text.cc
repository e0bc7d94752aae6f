// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

/// The width of the longest name of a level, so that lines printed one by one have aligned columns.
constexpr std::size_t kLevelWidth = std::string_view("warning").size();

}  // namespace

Listing listing_of(const balancer::EventsView& view) {
  Listing listing;
  listing.columns = {{"time", "TIME"},
                     {"level", "LEVEL"},
                     {"action", "ACTION", Align::kRight, Shown::kWide},
                     {"reason", "REASON", Align::kLeft, Shown::kWide},
                     {"vms", "VMS", Align::kLeft, Shown::kWide},
                     {"message", "EVENT"}};
  for (const balancer::EventView& event : view.events) {
    listing.names.insert(listing.names.end(), event.vms.begin(), event.vms.end());
    const std::string level(name_of(event.level));
    listing.rows.push_back({time_cell(event.time_unix_s),
                            {fmt::format("{:<{}}", level, kLevelWidth), level},
                            cell(event.action),
                            cell(event.reason),
                            cell(fmt::format("{}", fmt::join(event.vms, ", "))),
                            cell(event.message)});
  }
  return listing;
}

std::string text_of(const balancer::EventsView& view) {
  const std::string more =
      view.truncated ? "There were more; choose which to show with --limit and --since.\n" : "";
  return (view.events.empty() ? "No events.\n" : text_of(listing_of(view), ListFormat::kTable)) +
         more;
}

}  // namespace vmnuma::tools
