// SPDX-License-Identifier: Apache-2.0
/// What placement/advice/advice.h promises of any advice, held against one.
///
/// The property test tries it on generated hosts and VMs, the tests of machines on each of theirs
/// with VMs of many sizes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/advice/advice.h"

namespace vmnuma::tests {

/// The VM whose definition is as advised.
[[nodiscard]] AdviceRequest as_advised(const AdviceRequest& request, const Advice& advice);

/// What is wrong with the advice, or nothing. The numbers are those of the properties in advice.h.
using AdvicePromise = std::optional<std::string> (*)(const AdviceRequest& request,
                                                     const AdviceHost& host, const Advice& advice);
/// 1 and 6.
[[nodiscard]] std::optional<std::string> wrong_cells(const AdviceRequest& request,
                                                     const AdviceHost& host, const Advice& advice);
/// 2.
[[nodiscard]] std::optional<std::string> unsaid_too_large(const AdviceRequest& request,
                                                          const AdviceHost& host,
                                                          const Advice& advice);
/// 3, and that a VM that is as advised gets no warnings of what advice is about.
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
inline constexpr AdvicePromise kAdvicePromises[] = {wrong_cells,  unsaid_too_large, wrong_sockets,
                                                    other_advice, other_clients,    untrue_caches};

/// VMs from one vCPU to twice the CPUs of the host: plain ones, and such that never move, have
/// cores of their own, huge pages, or rather fit a node than stay together.
[[nodiscard]] std::vector<AdviceRequest> vms_of_all_sizes(const Topology& topology);

/// What is wrong with the advice for such VMs, a sentence each that names the VM.
[[nodiscard]] std::vector<std::string> wrong_advice_on(const Topology& topology);

}  // namespace vmnuma::tests
