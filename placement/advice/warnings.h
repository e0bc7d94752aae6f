// SPDX-License-Identifier: Apache-2.0
/// Finds what will hurt in a VM's definition, on this host.
///
/// Problem: a definition that libvirt accepts can still slow a VM down or keep it from starting.
/// Approach: each known problem is checked by itself, against the definition and the properties of
/// the host. What is not known causes no warning: a host without known free memory is not assumed
/// to be short of it.
/// Properties:
///  1. Equal VMs on equal hosts get the same warnings, in the order of AdviceWarning, each at most
///     once.
///  2. A VM that follows the advice gets no warning about its cells, unless its vCPUs or its memory
///     allow no better ones.
#pragma once

#include <string>
#include <vector>

#include "placement/advice/advice.h"
#include "placement/base/names.h"

namespace vmnuma {

enum class AdviceWarning {
  kNoCells,            ///< wider than a node, and the guest does not see that
  kCellTooLarge,       ///< no node holds it
  kOddSplit,           ///< the cells cannot be equal, or are not
  kSocketAcrossCells,  ///< what shares a cache according to the guest is on two nodes
  kMoreSocketsThanNodes,
  kThreadsWithoutSmt,
  kHotPlugWithCells,
  kStrictWithoutRoom,
  kHugePagesTooFew,
  kMemoryStays,      ///< where it starts
  kOnlyStartCounts,  ///< encrypted: nothing can be moved, and the daemon cannot help later
};
[[nodiscard]] constexpr auto names(AdviceWarning) {
  return names_in_order<AdviceWarning>(
      "no-cells", "cell-too-large", "odd-split", "socket-across-cells", "more-sockets-than-nodes",
      "threads-without-smt", "hot-plug-with-cells", "strict-without-room", "huge-pages-too-few",
      "memory-stays", "only-start-counts");
}

/// Returns true if the VM will be slow, or not start, and another definition would help; false for
/// mere information.
[[nodiscard]] bool calls_for_change(AdviceWarning warning);

struct AdviceWarned {
  AdviceWarning kind{};
  std::string text;  ///< a sentence
  bool operator==(const AdviceWarned&) const = default;
};

/// Returns the warnings. `vm.policy` is the effective one.
[[nodiscard]] std::vector<AdviceWarned> warnings_about(const VmDescription& vm,
                                                       const AdviceHost& host);

}  // namespace vmnuma
