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

struct ChildMemory {
  placement::Bytes populated;       ///< as much again is mapped without pages
  placement::Bytes alignment;       ///< of the start
  bool huge = false;                ///< ask for transparent huge pages
  bool shared_with_second = false;  ///< a second child maps and touches the same pages
};

/// Ends and is reaped with its object.
class MemoryChild {
 public:
  /// Nothing if the memory could not be had.
  [[nodiscard]] static std::unique_ptr<MemoryChild> start(const ChildMemory& memory);
  MemoryChild(const MemoryChild&) = delete;
  MemoryChild& operator=(const MemoryChild&) = delete;
  ~MemoryChild();

  [[nodiscard]] const placement::VmProcess& process() const { return process_; }
  [[nodiscard]] std::uint64_t address() const { return address_; }

  /// Ends it. Until it is reaped its pid stays its own.
  void kill();
  void reap();

 private:
  MemoryChild() = default;
  pid_t pid_ = -1;
  bool reaped_ = false;
  placement::VmProcess process_;
  std::uint64_t address_ = 0;
};

}  // namespace vmnuma::tests
