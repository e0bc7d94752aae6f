// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

using balancer::ReservationView;
using balancer::ReservedMemoryView;

/// Returns the holders by name or UUID, by group, each once, and by owner.
Listing::Cell holder_cell(const ReservationView& row) {
  const std::string& vm = row.vm.empty() ? row.vm_uuid : row.vm;
  std::vector<std::string> holders;
  if (!vm.empty()) {
    holders.push_back(vm);
  }
  if (!row.group.empty() && row.group != vm) {
    holders.push_back(row.group);
  }
  if (!row.owner.empty()) {
    holders.push_back("owner " + row.owner);
  }
  return {fmt::format("{}", fmt::join(holders, ", ")), vm};
}

/// Returns what is taken of a shared reservation.
std::int64_t taken_bytes(const ReservationView& row) {
  return sum_of(row.taken, [](const balancer::SharedPartView& part) {
    return sum_of(part.memory, &ReservedMemoryView::memory_bytes);
  });
}

/// "0 (16.0 GiB), 1 (16.0 GiB)", or "0:17179869184 1:17179869184"; huge pages are listed with their
/// size.
Listing::Cell reserved_cell(const ReservationView& row) {
  Listing::Cell cell;
  for (const ReservedMemoryView& part : row.memory) {
    const bool is_huge = part.page_bytes > 0;
    cell.text += fmt::format("{}{} ({}{})", cell.text.empty() ? "" : ", ", node_text(part.node),
                             bytes_text(part.memory_bytes),
                             is_huge ? " of " + bytes_text(part.page_bytes) : "");
    cell.value +=
        fmt::format("{}{}:{}{}", cell.value.empty() ? "" : " ", node_text(part.node),
                    part.memory_bytes, is_huge ? fmt::format(":{}", part.page_bytes) : "");
  }
  return cell;
}

}  // namespace

Listing listing_of(const balancer::ReservationsView& view) {
  Listing listing;
  listing.columns = {{"name", "NAME"},
                     {"vm", "FOR"},
                     {"group", "GROUP", Align::kLeft, Shown::kWide},
                     {"owner", "OWNER", Align::kLeft, Shown::kWide},
                     {"vcpus", "VCPUS", Align::kRight},
                     {"memory_bytes", "MEMORY", Align::kRight},
                     {"taken_bytes", "TAKEN", Align::kRight},
                     {"nodes", "NODES"},
                     {"until", "UNTIL"},
                     {"served", "SERVED", Align::kRight, Shown::kWide},
                     {"memory", "MEMORY BY NODE", Align::kLeft, Shown::kWide}};
  for (const ReservationView& row : view.reservations) {
    std::set<NodeId> nodes(row.homes.begin(), row.homes.end());
    for (const ReservedMemoryView& part : row.memory) {
      nodes.insert(part.node);
    }
    listing.names.push_back(row.name);
    listing.rows.push_back({cell(row.name), holder_cell(row), cell_if_any(row.group),
                            cell_if_any(row.owner), cell(row.vcpus),
                            bytes_cell(sum_of(row.memory, &ReservedMemoryView::memory_bytes)),
                            row.shared ? bytes_cell(taken_bytes(row)) : cell_if_any(""),
                            cell(nodes_text({nodes.begin(), nodes.end()})),
                            row.until_unix_s ? time_cell(*row.until_unix_s) : cell_if_any(""),
                            cell(row.served.size()), reserved_cell(row)});
  }
  return listing;
}

Listing listing_of(const balancer::ReservationHistoryView& view) {
  Listing listing;
  listing.columns = {{"time", "TIME"},
                     {"reservation", "RESERVATION"},
                     {"what", "WHAT"},
                     {"vm", "VM"},
                     {"memory_bytes", "MEMORY", Align::kRight},
                     {"vm_uuid", "UUID", Align::kLeft, Shown::kWide},
                     {"detail", "DETAIL", Align::kLeft, Shown::kWide}};
  for (const balancer::ReservationEventView& event : view.events) {
    listing.names.push_back(event.reservation);
    listing.rows.push_back({time_cell(event.time_unix_s), cell(event.reservation), cell(event.what),
                            cell_if_any(event.vm), bytes_cell(event.memory_bytes),
                            cell(event.vm_uuid), cell(event.detail)});
  }
  return listing;
}

std::string text_of(const balancer::ReservationHistoryView& view) {
  if (view.events.empty()) {
    return "Nothing has happened to reservations.\n";
  }
  return text_of(listing_of(view), ListFormat::kTable) +
         (view.truncated ? "There are more; --limit shows more of them.\n" : "");
}

std::string text_of(const balancer::ReservationsView& view) {
  return view.reservations.empty() ? "Nothing is reserved.\n"
                                   : text_of(listing_of(view), ListFormat::kTable);
}

}  // namespace vmnuma::tools
