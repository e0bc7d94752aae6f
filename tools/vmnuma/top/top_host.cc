// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_host.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace vmnuma::tools {

namespace {

using balancer::HostView;
using balancer::NodeView;
using balancer::VmClientView;
using balancer::VmView;

/// Returns the index of a node in HostView::nodes, which is also that of its memory in each client.
std::optional<std::size_t> place_of(const HostView& host, NodeId node) {
  const auto found =
      std::find_if(host.nodes.begin(), host.nodes.end(),
                   [&](const NodeView& candidate) { return candidate.node == node; });
  return found == host.nodes.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - host.nodes.begin()));
}

TopClient client_of(const HostView& host, const VmView& vm, const VmClientView& view) {
  TopClient client;
  client.vm = vm.vm;
  client.vm_uuid = vm.vm_uuid;
  client.client = view.index;
  client.vcpus = view.vcpus;
  client.home = view.home;
  client.moving = view.moving;
  client.demand_ms = view.demand_ms;
  client.entitled_ms = view.entitled_ms;
  client.owed_ms = view.owed_ms;
  client.bytes_by_node = view.memory_bytes;
  client.home_assumed = view.home_assumed;
  if (!view.memory_bytes.empty()) {
    client.memory_bytes =
        std::accumulate(view.memory_bytes.begin(), view.memory_bytes.end(), std::int64_t{0});
    const auto home = place_of(host, view.home);
    if (home && *home < view.memory_bytes.size()) {
      client.local_bytes = view.memory_bytes[*home];
    }
  }
  return client;
}

}  // namespace

TopHost top_host(balancer::StatusView status, const HostView& host) {
  TopHost out;
  out.status = std::move(status);
  out.epoch_length_ms = host.epoch_length_ms;
  for (const NodeView& node : host.nodes) {
    TopNode& row = out.nodes.emplace_back();
    row.node = node.node;
    row.cpus = node.cpus;
    row.vcpus = node.vcpus;
    row.vm_load_pct = node.vm_load_pct;
    row.non_vm_pct = node.non_vm_pct;
    row.capacity_ms = node.capacity_ms;
    row.owed_ms = node.owed_ms;
    if (node.free_bytes) {
      row.used_bytes = node.memory_bytes - *node.free_bytes;
    }
    row.total_bytes = node.memory_bytes;
  }
  for (const VmView& vm : host.vms) {
    for (const VmClientView& client : vm.clients) {
      out.clients.push_back(client_of(host, vm, client));
    }
  }
  return out;
}

}  // namespace vmnuma::tools
