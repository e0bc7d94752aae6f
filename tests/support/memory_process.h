// SPDX-License-Identifier: Apache-2.0
/// Real processes that hold memory and do nothing, for tests of what the kernel reports about them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "placement/model/amounts.h"
#include "placement/model/sample.h"

namespace vmnuma::tests {

enum class MemoryKind {
  kSmall,    ///< private pages of the base size
  kHuge,     ///< private transparent huge pages
  kHugetlb,  ///< from the pools of huge pages
  kLocked,   ///< private, small, mlock(2)ed
  kPinned,   ///< private, small, the first half held as a fixed buffer of io_uring(7)
  kMerged,   ///< private, small, each merged with others by the kernel's same-page merging
  kShared,   ///< small pages that a second process maps, too
};

struct ChildMemory {
  Bytes populated;  ///< all on one node; the same amount is mapped without pages
  Bytes alignment;  ///< of the start
  MemoryKind kind = MemoryKind::kSmall;
  /// The node for the pages, if it has room; if not set, the node on which the child runs.
  std::optional<NodeId> node = std::nullopt;
};

/// The child ends and is reaped with its object.
class MemoryChild {
 public:
  /// Starts a child; nothing if the memory is not available.
  [[nodiscard]] static std::unique_ptr<MemoryChild> start(const ChildMemory& memory);
  MemoryChild(const MemoryChild&) = delete;
  MemoryChild& operator=(const MemoryChild&) = delete;
  ~MemoryChild();

  [[nodiscard]] const VmProcess& process() const { return process_; }
  [[nodiscard]] std::uint64_t address() const { return address_; }

  /// Kills the child. Its pid is not reused until it is reaped.
  void kill();
  void reap();

 private:
  MemoryChild() = default;
  pid_t pid_ = -1;
  bool reaped_ = false;
  VmProcess process_;
  std::uint64_t address_ = 0;
};

}  // namespace vmnuma::tests
