// SPDX-License-Identifier: Apache-2.0
/// From an action of the plan to an order that the executor can carry out without asking anybody.
///
/// Terms: *reach* - the CPUs of all homes of a VM; the emulator, vhost and the I/O threads serve
/// all of its clients, so they may run on all of them. Properties: every vCPU of a moved client is
/// pinned to exactly the usable CPUs of its new home; vCPUs come first, then the emulator, then I/O
/// threads; `before` is what the live definition says, so that undoing an order restores what was
/// found; VMs whose memory stays get no memory change.
#pragma once

#include <cstdint>

#include "balancer/core/ledger.h"
#include "migration/order.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// `action` is one of a plan made of `snapshot`; the ledger still has the homes before it.
[[nodiscard]] migration::Order make_order(std::int64_t number, const placement::Action& action,
                                          const placement::Snapshot& snapshot,
                                          const Ledger& ledger);

/// The usable CPUs of a node.
[[nodiscard]] std::vector<placement::CpuId> cpus_of(const placement::Node& node);

}  // namespace vmnuma::balancer
