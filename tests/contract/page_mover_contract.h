// SPDX-License-Identifier: Apache-2.0
/// What every implementation of migration::PageMover must do.
///
/// An implementation gives the suite a MemoryHost and instantiates it:
///   INSTANTIATE_TEST_SUITE_P(Fake, PageMoverContract,
///                            testing::Values(MemoryHostKind{"FakeMemory", make_fake_memory}));
/// Claims that need something that the host lacks are skipped with a message: a second node with
/// memory, pools of huge pages on each node, same-page merging, a cgroup with cpusets.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "migration/page_mover.h"
#include "tests/support/memory_process.h"

namespace vmnuma::tests {

/// A process with a mapping: the first half has pages, all on one node, the second half has none.
struct MemoryProcess {
  VmProcess process;
  std::uint64_t start = 0;  ///< a multiple of the huge page size
  Bytes populated;
  Bytes page_size;
  Bytes huge_page_size;
};

class MemoryHost {
 public:
  virtual ~MemoryHost() = default;

  virtual migration::PageMover& mover() = 0;
  /// Starts a process; nothing if this kind is not available.
  virtual std::optional<MemoryProcess> start(MemoryKind kind, Bytes populated) = 0;
  virtual void end(const MemoryProcess& process) = 0;
  /// Returns another node with memory than `node`; nothing if there is none.
  virtual std::optional<NodeId> node_other_than(NodeId node) = 0;
  /// Takes all of a node's memory except about that much; returns false if it cannot.
  virtual bool leave_room(NodeId node, Bytes room) = 0;
  /// Allows the process only this node's memory; returns false if it cannot.
  virtual bool confine(const MemoryProcess& process, NodeId node) = 0;
};

struct MemoryHostKind {
  std::string name;
  std::function<std::unique_ptr<MemoryHost>()> make;
};
inline void PrintTo(const MemoryHostKind& kind, std::ostream* stream) {
  *stream << kind.name;
}

class PageMoverContract : public testing::TestWithParam<MemoryHostKind> {
 protected:
  PageMoverContract() : host_(GetParam().make()) {}

  migration::PageMover& mover() { return host_->mover(); }
  /// Returns addresses `stride` apart, from the first one to the end of the populated part.
  static std::vector<std::uint64_t> addresses(const MemoryProcess& process, Bytes stride);
  /// Returns the node of the first page.
  NodeId node_of(const MemoryProcess& process);

  std::unique_ptr<MemoryHost> host_;
};

}  // namespace vmnuma::tests
