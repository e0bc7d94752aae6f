// SPDX-License-Identifier: Apache-2.0
/// Limits that protect the memory of a VM from others, and theirs from it, by its class.
///
/// Problem: on a host that is short of memory the kernel takes it from the cgroup that used it
/// least recently, and a VM that was promised its memory swaps because of one that was not.
/// Approach: Kubernetes' memory QoS (KEP-2570), applied to VMs. There a container has a request and
/// a limit, and
///
///     memory.min  = request
///     memory.high = floor((request + throttling factor x (limit - request)) / page) x page
///
/// where memory.high has no meaning if request and limit are equal. Here a VM's *need* is its
/// guest's memory and what QEMU takes in addition (Numa.MemQosOverhead), and
///
///     class        request          limit               memory.min  memory.low  memory.high
///     guaranteed   need             need                request     -           -
///     burstable    need             need, balloon full  -           request     by the formula
///     best-effort  -                need, balloon full  -           -           by the formula
///
/// A guaranteed VM also never swaps (memory.swap.max = 0). Memory on huge pages of hugetlbfs is
/// charged to no memory controller (Linux 6.1), so it is no part of the need.
/// Terms: *need* - above; *reclaimable* - the kernel can take pages of the guest: they are ordinary
/// pages, nothing locks or pins them, and the host has swap.
/// Properties:
///  1. A VM with memory that is not reclaimable gets no memory.high, which would slow it down
///     forever without freeing anything.
///  2. A VM without a class gets nothing at all.
///  3. Values are whole pages of the largest size that kernels under KVM have, so that the kernel
///     keeps them as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/options.h"

namespace vmnuma {

/// 64 KiB pages, as arm64 and ppc64 kernels may have.
inline constexpr Bytes kLargestPage{65536};

/// The settings for a VM's scope. An absent value is left unchanged.
struct MemoryProtection {
  Bytes min;
  Bytes low;
  std::optional<Bytes> high;
  std::optional<Bytes> swap_max;
  bool operator==(const MemoryProtection&) const = default;
};

/// Returns why the kernel can take no page of the guest, as a sentence for people, or nothing if it
/// can. `swap` is the host's total.
[[nodiscard]] std::optional<std::string> why_not_reclaimable(const VmDescription& vm, Bytes swap);

/// Returns nothing for a VM without a class.
[[nodiscard]] std::optional<MemoryProtection> protection_of(const VmDescription& vm, Bytes swap,
                                                            const Options& options);

}  // namespace vmnuma
