// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

using balancer::MemoryView;
using balancer::VmMemoryView;

/// Of a VM in a sentence, in columns.
constexpr std::size_t kLongestName = 60;

std::string protection_text(const balancer::Figure& bytes) {
  return bytes_text(bytes == 0 ? std::nullopt : bytes);
}

/// Private and shared.
balancer::Figure memory_of(const VmMemoryView& vm) {
  return vm.anonymous_bytes && vm.shared_bytes
             ? balancer::Figure(*vm.anonymous_bytes + *vm.shared_bytes)
             : std::nullopt;
}

/// What the VM has and how it waits for it.
std::string use_table(const MemoryView& view) {
  Table table({{"VM", Table::Align::kShrinks},
               {"CLASS"},
               {"ANON", Table::Align::kRight},
               {"FILE", Table::Align::kRight},
               {"SWAP", Table::Align::kRight},
               {"SOME", Table::Align::kRight},
               {"FULL", Table::Align::kRight},
               {"OOM", Table::Align::kRight}});
  for (const VmMemoryView& vm : view.vms) {
    table.add_row({vm.vm, vm.memory_class, bytes_text(memory_of(vm)), bytes_text(vm.file_bytes),
                   bytes_text(vm.swap_bytes), permille_text(vm.waits_some_permille, "%"),
                   permille_text(vm.waits_full_permille, "%"), figure_text(vm.oom_score_adj)});
  }
  return table.text();
}

std::string limit_table(const MemoryView& view) {
  Table table({{"VM", Table::Align::kShrinks},
               {"MIN", Table::Align::kRight},
               {"LOW", Table::Align::kRight},
               {"HIGH", Table::Align::kRight},
               {"MAX", Table::Align::kRight},
               {"SWAP MAX", Table::Align::kRight}});
  for (const VmMemoryView& vm : view.vms) {
    if (vm.known) {
      table.add_row({vm.vm, protection_text(vm.min_bytes), protection_text(vm.low_bytes),
                     bytes_text(vm.high_bytes), bytes_text(vm.max_bytes),
                     bytes_text(vm.swap_max_bytes)});
    }
  }
  return table.text();
}

/// Where it lies. Nodes that a VM has nothing on are left out, so that many nodes fit.
std::string node_table(const MemoryView& view) {
  Table table({{"VM", Table::Align::kShrinks}, {"BY NODE", Table::Align::kShrinks}});
  for (const VmMemoryView& vm : view.vms) {
    std::string nodes;
    for (std::size_t i = 0; i < vm.node_bytes.size() && i < view.nodes.size(); ++i) {
      if (vm.node_bytes[i] > 0) {
        nodes += fmt::format("{}{}: {}", nodes.empty() ? "" : ", ", view.nodes[i].value,
                             bytes_text(vm.node_bytes[i]));
      }
    }
    table.add_row({vm.vm, nodes.empty() ? "-" : nodes});
  }
  return table.text();
}

std::string order_text(const std::vector<balancer::VictimView>& victims) {
  std::string out;
  std::size_t place = 0;
  for (const auto& victim : victims) {
    out += wrapped(
        fmt::format("{}. {}: {}", ++place, shortened(victim.vm, kLongestName), victim.sentence),
        /*indent=*/2);
  }
  return out.empty() ? "  none\n" : out;
}

}  // namespace

std::string text_of(const MemoryView& view) {
  std::string out = fmt::format(
      "Memory QoS is {}, the host has {} of memory and {}\n", view.enabled ? "on" : "off",
      bytes_text(view.memory_bytes),
      view.swap_bytes ? bytes_text(*view.swap_bytes) + " of swap" : "swap that is not known");
  if (view.protection_inherited == false) {
    out += wrapped("cgroup v2 is mounted without memory_recursiveprot: nothing protects QEMU.",
                   /*indent=*/0);
  }
  if (view.vms.empty()) {
    return out;
  }
  out += "\n" + use_table(view) + "\n" + limit_table(view) + "\n" + node_table(view);
  std::string notes;
  for (const VmMemoryView& vm : view.vms) {
    if (vm.memory_class != "none" && !vm.not_reclaimable.empty()) {
      notes += wrapped(fmt::format("{} is never throttled: {}", shortened(vm.vm, kLongestName),
                                   vm.not_reclaimable),
                       /*indent=*/2);
    }
  }
  if (!notes.empty()) {
    out += "\nNot throttled\n" + notes;
  }
  out += "\nWhose memory is taken first\n" + order_text(view.reclaimed_first);
  return out + "\nWho is killed first if that is not enough\n" + order_text(view.killed_first);
}

}  // namespace vmnuma::tools
