// SPDX-License-Identifier: Apache-2.0
/// Real processes that hold memory and do nothing, for tests of what the kernel says about them.
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
  kShared,   ///< small pages that a second process maps too
};

struct ChildMemory {
  Bytes populated;  ///< all on one node; as much again is mapped without pages
  Bytes alignment;  ///< of the start
  MemoryKind kind = MemoryKind::kSmall;
  /// Where the pages should be, if there is room; the node that the child runs on if not set.
  std::optional<NodeId> node = std::nullopt;
};

/// Ends and is reaped with its object.
class MemoryChild {
 public:
  /// Nothing if the memory could not be had.
  [[nodiscard]] static std::unique_ptr<MemoryChild> start(const ChildMemory& memory);
  MemoryChild(const MemoryChild&) = delete;
  MemoryChild& operator=(const MemoryChild&) = delete;
  ~MemoryChild();

  [[nodiscard]] const VmProcess& process() const { return process_; }
  [[nodiscard]] std::uint64_t address() const { return address_; }

  /// Ends it. Until it is reaped its pid stays its own.
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
