// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "placement/model/text.h"
#include "tools/vmnuma/text/scheduling_text.h"
#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

constexpr std::size_t kTransfersListed = 10;

std::string field(std::string_view name, const std::string& value) {
  return fmt::format("{:<11} {}\n", name, printable(value));
}

std::string mode_text(const balancer::StatusView& view) {
  std::string text(name_of(view.mode));
  if (view.mode != view.configured_mode) {
    text += fmt::format(" (configured: {})", name_of(view.configured_mode));
  }
  return text;
}

/// Returns the lines about the kernel; the first one has the label. The bits of numa_balancing:
/// Linux 6.1, include/linux/sched/sysctl.h, NUMA_BALANCING_NORMAL and
/// NUMA_BALANCING_MEMORY_TIERING.
std::string kernel_lines(const balancer::StatusView& view) {
  const std::int32_t bits = view.kernel_numa_balancing.value_or(0);
  std::string out;
  if (view.kernel_numa_balancing) {
    out += wrapped(bits == 0 ? "its own NUMA balancing is off"
                             : fmt::format("its own NUMA balancing is on ({})", bits),
                   /*indent=*/12);
  }
  if (view.sched_ext) {
    out += wrapped(sched_ext_text(*view.sched_ext), /*indent=*/12);
  }
  out += wrapped(cache_scheduling_text(view.cache_scheduling, bits != 0), /*indent=*/12);
  return out.empty() ? out : field("Kernel", "").substr(0, 12) + out.substr(12);
}

std::string wakeups_text(std::optional<std::int64_t> pairs) {
  if (!pairs) {
    return "not counted: declared affinity groups only (vmnuma-wakeups.service)";
  }
  return fmt::format("counted, {} {} of VMs", *pairs, *pairs == 1 ? "pair" : "pairs");
}

/// "16 vCPUs, 44.0 GiB on node 2 (90.0 GiB on all nodes together)", and a line for each size of
/// huge pages.
std::string largest_text(const balancer::LargestVmView& largest) {
  std::string text = figure_text(largest.memory_bytes);
  if (largest.node.value >= 0) {
    text = fmt::format("{} vCPUs, {} on node {} ({} on all nodes together)",
                       figure_text(largest.vcpus), bytes_text(largest.memory_bytes),
                       largest.node.value, bytes_text(largest.room_bytes));
  } else if (largest.memory_bytes) {
    text = "none on ordinary pages: no node has room";
  }
  std::string out = field("Largest VM", text);
  for (const balancer::LargestOnPagesView& pages : largest.huge_pages) {
    if (pages.node.value >= 0) {
      out += wrapped(fmt::format("{} on pages of {} on node {}", bytes_text(pages.memory_bytes),
                                 bytes_text(pages.page_bytes), pages.node.value),
                     /*indent=*/12);
    }
  }
  return out;
}

/// Returns the transfers that take longest; those for which this is not known yet come first.
std::vector<balancer::TransferView> longest(std::vector<balancer::TransferView> transfers) {
  std::stable_sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
    return a.seconds_left.value_or(INT64_MAX) > b.seconds_left.value_or(INT64_MAX);
  });
  transfers.resize(kTransfersListed);
  return transfers;
}

std::string transfers_text(const std::vector<balancer::TransferView>& all) {
  const bool is_cut = all.size() > kTransfersListed;
  const std::vector<balancer::TransferView> transfers = is_cut ? longest(all) : all;
  Table table({{"VM/CLIENT"},
               {"ACTION", Align::kRight},
               {"TO"},
               {"STATE"},
               {"DONE", Align::kRight},
               {"LEFT", Align::kRight},
               {"RATE", Align::kRight},
               {"ENDS IN", Align::kRight}});
  std::string notes;
  for (const auto& transfer : transfers) {
    // Before the pages have been counted, nothing is done and nothing left.
    const bool counted = transfer.bytes_done + transfer.bytes_remaining > 0;
    const auto amount = [counted](std::int64_t bytes) {
      return counted ? bytes_text(bytes) : std::string("-");
    };
    table.add_row({fmt::format("{}/{}", transfer.vm, transfer.client),
                   std::to_string(transfer.action), nodes_text(transfer.to), transfer.state,
                   amount(transfer.bytes_done), amount(transfer.bytes_remaining),
                   amount(transfer.rate_bytes_per_second) + (counted ? "/s" : ""),
                   figure_text(transfer.seconds_left, "s")});
    if (transfer.stalls > 0) {
      notes += fmt::format("Action {}: {} calls took longer than Numa.PageMigStallTarget\n",
                           transfer.action, transfer.stalls);
    }
    if (!transfer.problem.empty()) {
      notes += fmt::format("Action {}: {}; it is tried again\n", transfer.action, transfer.problem);
    }
    if (transfer.unmovable_bytes > 0) {
      notes += fmt::format("Action {}: {} could not be moved, at least for now\n", transfer.action,
                           bytes_text(transfer.unmovable_bytes));
    }
  }
  if (is_cut) {
    notes = fmt::format("and {} more ('vmnuma top')\n", all.size() - transfers.size()) + notes;
  }
  return table.empty() ? "" : "\nMemory being moved:\n" + table.text() + notes;
}

}  // namespace

std::string text_of(const balancer::StatusView& view) {
  std::string out = field("Mode", mode_text(view));
  for (const auto& degraded : view.degraded) {
    out += wrapped(fmt::format("{}: {} (since {})", degraded.source, degraded.reason,
                               local_time_text(degraded.since_unix_s)),
                   /*indent=*/12);
  }
  out += wrapped(view.nothing_to_balance, /*indent=*/12);
  for (const std::string& notice : view.notices) {
    out += wrapped(notice, /*indent=*/12);
  }
  out += field("Version", view.version);
  out += field("Hypervisor", view.uri);
  out += field("Host",
               fmt::format("{}: {}, {}, {}", view.host_name, counted_text(view.nodes, "node"),
                           counted_text(view.vms, "VM"), counted_text(view.clients, "client")));
  if (view.recorded_unix_s) {
    out += field("Recorded", local_time_text(*view.recorded_unix_s));
  }
  out += field("Epoch", fmt::format("{}, one every {} ms", view.epoch, view.epoch_length_ms));
  out += field("Lateness",
               fmt::format("{} in the last epoch, {} at most", figure_text(view.late_ms, "ms"),
                           figure_text(view.late_most_ms, "ms")));
  out += field("Imbalance", figure_text(view.imbalance_pct, "%"));
  out += field("Lost time", figure_text(view.lost_ms, "ms per epoch"));
  out += field("Actions", fmt::format("{} under way", view.open_actions));
  if (view.breaker_epochs_left > 0) {
    out += wrapped(fmt::format("Too many moves in a row failed or did harm: none are made for {} "
                               "more epochs (Numa.BreakerFailures).",
                               view.breaker_epochs_left),
                   /*indent=*/12);
  }
  out += largest_text(view.largest_vm);
  if (view.reservations > 0) {
    out += field("Reserved", fmt::format("{}, see 'vmnuma reservations'",
                                         counted_text(view.reservations, "reservation")));
  }
  out += kernel_lines(view);
  if (!view.isolated_cpus.empty()) {
    out += field("Isolated", fmt::format("CPUs {} are kept from VMs ('vmnuma doctor' says why)",
                                         to_list(view.isolated_cpus)));
  }
  if (view.wants_wakeups || view.wakeup_pairs) {
    out += field("Wake-ups", wakeups_text(view.wakeup_pairs));
  }
  const auto& [trained, histogram, last_maximum] = view.forecasts;
  out += field("Forecasts", fmt::format("of {}: {} trained, {} histogram, {} last maximum",
                                        counted_text(trained + histogram + last_maximum, "VM"),
                                        trained, histogram, last_maximum));
  out += field("Admission", view.admission);
  out += field("History", fmt::format("{}: {}", view.history.path, view.history.state));
  for (const auto& refused : view.refused_policies) {
    out += wrapped(fmt::format("The policy in the metadata of VM {} is refused: {}", refused.vm,
                               refused.reason),
                   /*indent=*/0);
  }
  for (const auto& start : view.not_admitted) {
    out += wrapped(fmt::format("VM {} {} at {}: {}", start.vm,
                               start.refused ? "was refused to start" : "would have been refused",
                               local_time_text(start.time_unix_s), start.reason),
                   /*indent=*/0);
  }
  return out + transfers_text(view.transfers);
}

}  // namespace vmnuma::tools
