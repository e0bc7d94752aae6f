// SPDX-License-Identifier: Apache-2.0
/// Turns the controller's state into sentences and rounded figures for display.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/controller/totals.h"
#include "balancer/core/ledger.h"
#include "balancer/core/planner.h"
#include "balancer/core/search.h"
#include "balancer/model/view.h"
#include "migration/progress.h"
#include "placement/model/domain.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// "node 2", or "no node".
[[nodiscard]] std::string node_text(const Snapshot& snapshot, NodeIndex node);
/// "web1" for a VM with one client, "web1/0" otherwise.
[[nodiscard]] std::string client_text(const Snapshot& snapshot, const ClientId& client);
/// "load-move of web1 from node 0 to node 2: saves 412 ms per epoch, costs 38 ms once".
[[nodiscard]] std::string action_text(const Snapshot& snapshot, const Action& action);
/// Why a guard stopped a candidate, with the option's value if it has one.
[[nodiscard]] std::string guard_text(Guard guard, const Options& options);

/// The whole host in one answer: nodes, clients and counters. Nodes and VMs are in the order of the
/// snapshot. Those that were not measured in its epoch have no figures. What only the controller
/// knows is left out: promises, advice, and the last three fields.
[[nodiscard]] HostView host_view(const Snapshot& snapshot, const Ledger& ledger,
                                 const Totals& totals);
[[nodiscard]] PlanView plan_view(const Snapshot& snapshot, const Plan& plan, const Options& options,
                                 Mode mode);
/// Everything that can be said about one VM. `why` has a sentence per client.
[[nodiscard]] ExplainView explain_view(const Snapshot& snapshot, std::size_t vm,
                                       const Options& options, const std::vector<std::string>& why);
/// Describes how the topology_policy of a VM is met, as a sentence; empty if it has none.
/// `description` is that VM's.
[[nodiscard]] std::string topology_text(const Snapshot& snapshot, std::size_t vm,
                                        const VmDescription& description);
/// Calls visit(kind, name, device) for each host device that the VM uses, in a fixed order.
template <class Visit>
void visit_devices(const VmDescription& vm, const Visit& visit) {
  for (const PciDevice& device : vm.pci_devices) {
    visit(std::string_view("PCI device"), device.address, device);
  }
  for (const MediatedDevice& device : vm.mediated_devices) {
    visit(std::string_view("mediated device"), device.uuid, device);
  }
  for (const HostInterface& interface : vm.host_interfaces) {
    visit(std::string_view("network interface"), interface.name, interface);
  }
  for (const HostDisk& disk : vm.host_disks) {
    visit(std::string_view("disk"), disk.name, disk);
  }
}

/// All devices, without details that only the host's files reveal.
[[nodiscard]] std::vector<DeviceView> device_views(const VmDescription& vm);

[[nodiscard]] std::vector<TransferView> transfer_views(
    const Snapshot& snapshot, const std::vector<migration::TransferProgress>& transfers);

/// Explains why a host with at most one node that can be a home has nothing to balance, as a
/// sentence; empty for all others.
[[nodiscard]] std::string nothing_to_balance(const Topology& topology);
/// The prediction for an action with this reason.
[[nodiscard]] PredictionView prediction_view(std::string_view reason, const Prediction& predicted);

/// CPU time in milliseconds of one core, rounded to the nearest.
[[nodiscard]] std::int64_t milliseconds(CpuTime time);

/// A share as a percentage 0..100, from thousandths that may be larger.
[[nodiscard]] std::int64_t percent(Permille share);
/// The same for a share that may be unknown.
[[nodiscard]] Figure percent_if(const std::optional<Permille>& share);

/// Length of the last epoch; before the first one, the configured length.
[[nodiscard]] std::int64_t epoch_length_ms(const Snapshot& snapshot, const Options& options);

}  // namespace vmnuma::balancer
