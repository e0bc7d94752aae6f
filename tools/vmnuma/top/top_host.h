// SPDX-License-Identifier: Apache-2.0
/// The host as shown by `vmnuma top`: a list of nodes and a list of clients. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/model/view.h"

namespace vmnuma::tools {

/// Times are those of the last epoch.
struct TopClient {
  std::string vm;
  std::string vm_uuid;
  std::int32_t client = 0;
  std::int64_t vcpus = 0;
  NodeId home;
  bool moving = false;
  balancer::Figure demand_ms;
  balancer::Figure entitled_ms;
  balancer::Figure owed_ms;
  balancer::Figure memory_bytes;  ///< resident memory
  balancer::Figure local_bytes;   ///< part of it on the home; also absent without a home
  /// Resident memory, per node of TopHost::nodes; empty if unknown.
  std::vector<std::int64_t> bytes_by_node = {};
  bool home_assumed = false;  ///< as in VmClientView
};

struct TopHost {
  balancer::StatusView status;
  std::int64_t epoch_length_ms = 0;       ///< of the times below
  std::vector<balancer::NodeView> nodes;  ///< by number
  std::vector<TopClient> clients;         ///< by VM, then client
};

/// Returns the memory that is used on a node; nothing if unknown.
[[nodiscard]] balancer::Figure used_bytes(const balancer::NodeView& node);

/// Combines two answers of the daemon, one of which may be an epoch older.
[[nodiscard]] TopHost top_host(balancer::StatusView status, const balancer::HostView& host);

}  // namespace vmnuma::tools
