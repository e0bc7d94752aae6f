// SPDX-License-Identifier: Apache-2.0
/// What will hurt in a VM's definition, on this host.
///
/// Problem: a definition that libvirt accepts can still cost a VM its speed or its start. Approach:
/// each thing that is known to hurt is checked by itself, against what the definition says and the
/// host has. Nothing is said about what is not known: a host without known free memory is not taken
/// to be short of it.
/// Properties:
///  1. Equal VMs on equal hosts get the same warnings, in the order of AdviceWarning, each at most
///     once.
///  2. A VM that is as advised gets no warning about its cells, unless its vCPUs or its memory
///     allow no better ones.
#pragma once

#include <string>
#include <vector>

#include "placement/advice/advice.h"
#include "placement/base/names.h"

namespace vmnuma {

enum class AdviceWarning {
  kNoCells,            ///< wider than a node, and the guest is not told
  kCellTooLarge,       ///< no node holds it
  kOddSplit,           ///< the cells cannot be equal, or are not
  kSocketAcrossCells,  ///< what shares a cache in the guest's eyes is on two nodes
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

/// True if the VM will be slow, or not start, and another definition would help; false for mere
/// information.
[[nodiscard]] bool calls_for_change(AdviceWarning warning);

struct AdviceWarned {
  AdviceWarning kind{};
  std::string text;  ///< a sentence
  bool operator==(const AdviceWarned&) const = default;
};

/// `vm.policy` is the one that counts.
[[nodiscard]] std::vector<AdviceWarned> warnings_about(const VmDescription& vm,
                                                       const AdviceHost& host);

}  // namespace vmnuma
