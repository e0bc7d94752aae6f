// SPDX-License-Identifier: Apache-2.0
/// Names of things: nodes, CPUs, VMs, their clients and processes. Strong types, so that one cannot
/// be passed for another.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace vmnuma {

/// A host NUMA node by the kernel's number (the N of /sys/devices/system/node/nodeN). May be
/// sparse.
struct NodeId {
  std::int32_t value = -1;
  auto operator<=>(const NodeId&) const = default;
};

/// A logical CPU by the kernel's number. May be sparse.
struct CpuId {
  std::int32_t value = -1;
  auto operator<=>(const CpuId&) const = default;
};

/// A VM by libvirt's UUID, which survives restarts and renames. Text form: see model/text.h.
struct VmId {
  std::array<std::uint8_t, 16> uuid{};
  auto operator<=>(const VmId&) const = default;
};

/// A process that cannot be mistaken for a later one with the same pid.
struct VmProcess {
  std::int64_t pid = 0;
  std::uint64_t start_time_ticks = 0;  ///< field 22 of /proc/PID/stat (proc(5), Linux 6.1)
  auto operator<=>(const VmProcess&) const = default;
};

/// A client: the `index`-th group of a VM's vCPUs that lives on one node; the unit of placement and
/// move.
struct ClientId {
  VmId vm;
  std::int32_t index = 0;
  auto operator<=>(const ClientId&) const = default;
};

}  // namespace vmnuma
