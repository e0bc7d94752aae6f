// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

using balancer::MemoryView;
using balancer::VmMemoryView;

/// Returns the VM's memory, private and shared.
balancer::Figure memory_of(const VmMemoryView& vm) {
  return vm.anonymous_bytes && vm.shared_bytes
             ? balancer::Figure(*vm.anonymous_bytes + *vm.shared_bytes)
             : std::nullopt;
}

/// Returns the memory by node, without nodes on which the VM has none, so that many nodes fit.
Listing::Cell by_node(const MemoryView& view, const VmMemoryView& vm) {
  Listing::Cell cell;
  for (std::size_t i = 0; i < vm.node_bytes.size() && i < view.nodes.size(); ++i) {
    if (const std::int64_t bytes = vm.node_bytes[i]; bytes > 0) {
      const std::int32_t node = view.nodes[i].value;
      cell.text += fmt::format("{}{}: {}", cell.text.empty() ? "" : ", ", node, bytes_text(bytes));
      cell.value += fmt::format("{}{}:{}", cell.value.empty() ? "" : " ", node, bytes);
    }
  }
  return cell.text.empty() ? cell_if_any("") : cell;
}

Listing::Cell waits_cell(const balancer::Figure& permille) {
  return {permille_text(permille, "%"), cell(permille).value};
}

Listing::Cell protection_cell(const balancer::Figure& bytes) {
  return {bytes_text(bytes == 0 ? std::nullopt : bytes), cell(bytes).value};
}

/// Returns only the columns with these keys.
std::string part_of(Listing listing, const std::vector<std::string_view>& keys) {
  for (Listing::Column& column : listing.columns) {
    const bool is_wanted = std::ranges::find(keys, column.key) != keys.end();
    column.shown = is_wanted ? Shown::kAlways : Shown::kWide;
  }
  return text_of(listing, ListFormat::kTable);
}

std::string order_text(const std::vector<balancer::VictimView>& victims, bool is_known) {
  std::string out;
  std::size_t place = 0;
  for (const auto& victim : victims) {
    out += wrapped(fmt::format("{}. {}: {}", ++place, victim.vm, victim.sentence),
                   /*indent=*/2);
  }
  return !is_known ? "  not known\n" : out.empty() ? "  none\n" : out;
}

}  // namespace

Listing listing_of(const MemoryView& view) {
  Listing listing;
  listing.columns = {{"vm", "VM"},
                     {"class", "CLASS"},
                     {"anonymous_bytes", "ANON", Align::kRight},
                     {"file_bytes", "FILE", Align::kRight},
                     {"swap_bytes", "SWAP", Align::kRight},
                     {"waits_some_permille", "SOME", Align::kRight},
                     {"waits_full_permille", "FULL", Align::kRight},
                     {"oom_score_adj", "OOM", Align::kRight},
                     {"min_bytes", "MIN", Align::kRight, Shown::kWide},
                     {"low_bytes", "LOW", Align::kRight, Shown::kWide},
                     {"high_bytes", "HIGH", Align::kRight, Shown::kWide},
                     {"max_bytes", "MAX", Align::kRight, Shown::kWide},
                     {"swap_max_bytes", "SWAP MAX", Align::kRight, Shown::kWide},
                     {"node_bytes", "BY NODE", Align::kLeft, Shown::kWide}};
  for (const VmMemoryView& vm : view.vms) {
    listing.names.push_back(vm.vm);
    listing.rows.push_back(
        {cell(vm.vm), cell(vm.memory_class), bytes_cell(memory_of(vm)), bytes_cell(vm.file_bytes),
         bytes_cell(vm.swap_bytes), waits_cell(vm.waits_some_permille),
         waits_cell(vm.waits_full_permille), cell(vm.oom_score_adj), protection_cell(vm.min_bytes),
         protection_cell(vm.low_bytes), bytes_cell(vm.high_bytes), bytes_cell(vm.max_bytes),
         bytes_cell(vm.swap_max_bytes), by_node(view, vm)});
  }
  return listing;
}

std::string text_of(const MemoryView& view) {
  std::string out = fmt::format(
      "Memory QoS is {}, the host has {} of memory and {}\n", view.enabled ? "on" : "off",
      bytes_text(view.memory_bytes),
      view.swap_bytes ? bytes_text(*view.swap_bytes) + " of swap" : "an unknown amount of swap");
  if (!view.enabled) {
    out += "'vmnuma options set Numa.MemQosEnable 1' switches it on, see vmnuma(7)\n";
  }
  if (view.protection_inherited == false) {
    out += wrapped("cgroup v2 is mounted without memory_recursiveprot: nothing protects QEMU.",
                   /*indent=*/0);
  }
  if (view.vms.empty()) {
    return out;
  }
  const Listing listing = listing_of(view);
  out += "\n" + text_of(listing, ListFormat::kTable) + "\n" +
         part_of(listing,
                 {"vm", "min_bytes", "low_bytes", "high_bytes", "max_bytes", "swap_max_bytes"}) +
         "\n" + part_of(listing, {"vm", "node_bytes"});
  std::string notes;
  for (const VmMemoryView& vm : view.vms) {
    if (vm.memory_class != "none" && !vm.not_reclaimable.empty()) {
      notes += wrapped(fmt::format("{} is never throttled: {}", vm.vm, vm.not_reclaimable),
                       /*indent=*/2);
    }
  }
  if (!notes.empty()) {
    out += "\nNot throttled\n" + notes;
  }
  const bool is_known = !view.reclaimed_first.empty();  // otherwise it has all VMs that use memory
  out += "\nWhose memory is taken first\n" + order_text(view.reclaimed_first, is_known);
  return out + "\nWhich VM is killed first if that is not enough\n" +
         order_text(view.killed_first, is_known);
}

}  // namespace vmnuma::tools
