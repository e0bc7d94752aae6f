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
    const auto home = std::ranges::find(host.nodes, view.home, &NodeView::node);
    const auto place = static_cast<std::size_t>(home - host.nodes.begin());
    if (home != host.nodes.end() && place < view.memory_bytes.size()) {
      client.local_bytes = view.memory_bytes[place];
    }
  }
  return client;
}

}  // namespace

balancer::Figure used_bytes(const NodeView& node) {
  return node.free_bytes ? balancer::Figure(node.memory_bytes - *node.free_bytes) : std::nullopt;
}

TopHost top_host(balancer::StatusView status, const HostView& host) {
  TopHost out{std::move(status), host.epoch_length_ms, host.nodes, {}};
  for (const VmView& vm : host.vms) {
    for (const VmClientView& client : vm.clients) {
      out.clients.push_back(client_of(host, vm, client));
    }
  }
  return out;
}

}  // namespace vmnuma::tools
