// SPDX-License-Identifier: Apache-2.0
/// Measures what nodes have to give in an epoch, and how short of CPU time they were lately.
///
/// Problem: how busy a node is with work other than VMs is known only as the busy time that clients
/// do not account for (node_usage.h), and a burst of it is no basis for planning. Approach:
/// averages over seconds are kept from epoch to epoch, and other work counts only to the extent
/// that it lasts and is present now.
/// Properties: 4, 5 and 7 of ledger.h; and
///  - the daemon's own copying of memory does not count as load;
///  - a node without readings of its CPUs keeps its former non-VM load.
#pragma once

#include <map>
#include <vector>

#include "balancer/core/epoch_reading.h"
#include "balancer/core/records.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Kept from epoch to epoch; each per node and per second. Empty at first.
struct NodeAverages {
  std::vector<CpuTime> lasting_non_vm;  ///< averaged
  std::vector<CpuTime> newest_non_vm;   ///< of the last epoch
  std::vector<CpuTime> short_lately;    ///< averaged
};

/// Adds the nodes to a snapshot that has its clients already.
void measure_nodes(const std::map<VmId, VmRecord>& vms, const EpochReading& reading,
                   NodeAverages& averages, Snapshot& snapshot);

/// Averages how short the nodes were, once their clients' demand has been added up.
void average_shortages(const Options& options, NodeAverages& averages, Snapshot& snapshot);

}  // namespace vmnuma::balancer
