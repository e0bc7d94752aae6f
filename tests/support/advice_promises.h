// SPDX-License-Identifier: Apache-2.0
/// Checks a piece of advice against the promises of placement/advice/advice.h.
///
/// The property test uses these checks on generated hosts and VMs, the tests of machines on each
/// machine with VMs of many sizes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/advice/advice.h"

namespace vmnuma::tests {

/// Returns the request of the VM whose definition is as advised.
[[nodiscard]] AdviceRequest as_advised(const AdviceRequest& request, const Advice& advice);

/// Returns what is wrong with the advice, or nothing. The numbers below are those of the properties
/// in advice.h.
using AdvicePromise = std::optional<std::string> (*)(const AdviceRequest& request,
                                                     const AdviceHost& host, const Advice& advice);
/// 1 and 6.
[[nodiscard]] std::optional<std::string> wrong_cells(const AdviceRequest& request,
                                                     const AdviceHost& host, const Advice& advice);
/// 2.
[[nodiscard]] std::optional<std::string> silently_too_large(const AdviceRequest& request,
                                                            const AdviceHost& host,
                                                            const Advice& advice);
/// 3, and that a VM defined as advised gets no warnings about what the advice covers.
[[nodiscard]] std::optional<std::string> wrong_sockets(const AdviceRequest& request,
                                                       const AdviceHost& host,
                                                       const Advice& advice);
/// 4.
[[nodiscard]] std::optional<std::string> other_advice(const AdviceRequest& request,
                                                      const AdviceHost& host, const Advice& advice);
/// 5.
[[nodiscard]] std::optional<std::string> other_clients(const AdviceRequest& request,
                                                       const AdviceHost& host,
                                                       const Advice& advice);
/// 7.
[[nodiscard]] std::optional<std::string> untrue_caches(const AdviceRequest& request,
                                                       const AdviceHost& host,
                                                       const Advice& advice);
inline constexpr AdvicePromise kAdvicePromises[] = {
    wrong_cells, silently_too_large, wrong_sockets, other_advice, other_clients, untrue_caches};

/// Returns VMs from one vCPU to twice the CPUs of the host: plain ones, and VMs that never move,
/// have cores of their own, use huge pages, or prefer to fit a node over staying together.
[[nodiscard]] std::vector<AdviceRequest> vms_of_all_sizes(const Topology& topology);

/// Returns what is wrong with the advice for such VMs, as sentences that name the VM.
[[nodiscard]] std::vector<std::string> wrong_advice_on(const Topology& topology);

}  // namespace vmnuma::tests
