// SPDX-License-Identifier: Apache-2.0
/// Fake memory of processes on fake nodes: the PageMover port over a table of pages.
///
/// Problem: the important cases of moving pages are the kernel's failures: batches that end early,
/// statuses that are not written, huge pages, full nodes. Approach: imitate move_pages(2) of Linux
/// 6.1 (mm/migrate.c, do_pages_move) step by step for pages that have a node and flags; the same
/// contract tests check this and the real one (tests/contract).
///
/// Terms: *queue* - pages collected for one migration; it is flushed when a page cannot be queued,
/// and at the end.
///
/// Properties:
///  - a page is on exactly one node or absent;
///  - no node and no pool ever holds more than its capacity.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "migration/page_mover.h"

namespace vmnuma::tests {

struct FakeMemoryNode {
  NodeId id;
  Bytes memory;
  std::vector<migration::PoolFree> pools;  ///< huge page pools, all free
};

/// The cost of a call of move.
struct FakeMoveCost {
  Microseconds call{100};
  Microseconds page{1};
  Microseconds huge_page{100};
};

/// Not thread-safe.
class FakeMemory final : public migration::PageMover {
 public:
  explicit FakeMemory(std::vector<FakeMemoryNode> nodes);

  VmProcess start_process();
  void end_process(const VmProcess& process);
  /// Sets the nodes that the process's cpuset allows; all until set.
  void set_cpuset(const VmProcess& process, std::vector<NodeId> nodes);
  /// Adds a mapping without pages; `resident` is ignored. Add ranges in ascending order.
  void map(const VmProcess& process, migration::MemoryRange range);
  /// Populates a range, with transparent huge pages if requested (start and length must be
  /// multiples of their size). The node must have room.
  void populate(const VmProcess& process, std::uint64_t start, Bytes length, NodeId node,
                bool huge);
  /// Frees the pages.
  void discard(const VmProcess& process, std::uint64_t start, Bytes length);
  /// Makes pages immovable, as if pinned by a device.
  void pin(const VmProcess& process, std::uint64_t start, Bytes length);
  /// Makes pages shared with another process.
  void share(const VmProcess& process, std::uint64_t start, Bytes length);
  /// Makes pages look absent until they are revealed, like pages that NUMA balancing has unmapped;
  /// a huge page looks as if it never existed.
  void hide(const VmProcess& process, std::uint64_t start, Bytes length);
  /// Makes pages fail to move that many times: when queued (-EBUSY), or during migration (no
  /// status).
  void make_busy(const VmProcess& process, std::uint64_t start, Bytes length, int times,
                 bool at_queueing);
  /// Sets the memory of a node that others use.
  void set_used_by_others(NodeId node, Bytes bytes);
  void set_cost(FakeMoveCost cost) { cost_ = cost; }
  /// Denies the caller to query or move this process's pages.
  void deny(const VmProcess& process) { find(process)->denied = true; }

  [[nodiscard]] Result<void> check(const VmProcess& process) override;
  [[nodiscard]] Result<std::vector<migration::MemoryRange>> find_ranges(
      const VmProcess& process) override;
  [[nodiscard]] Result<std::vector<int>> query(const VmProcess& process,
                                               std::span<const std::uint64_t> addresses) override;
  [[nodiscard]] Result<void> reveal(const VmProcess& process,
                                    std::span<const std::uint64_t> addresses, Bytes unit) override;
  [[nodiscard]] Result<migration::MoveResult> move(const VmProcess& process,
                                                   std::span<const std::uint64_t> addresses,
                                                   NodeId node,
                                                   migration::SharedPages shared) override;
  [[nodiscard]] Result<migration::NodeMemory> node_memory(NodeId node) override;

  /// Returns the bytes on a node, of a process or of all.
  [[nodiscard]] Bytes bytes_on(const VmProcess& process, NodeId node) const;
  [[nodiscard]] Bytes bytes_on(NodeId node) const;
  [[nodiscard]] Bytes free_on(NodeId node) const;
  /// Returns whether the properties above hold.
  [[nodiscard]] bool consistent() const;

  /// One call of move, for tests of what is submitted.
  struct Call {
    std::vector<std::uint64_t> addresses;
    NodeId node;
    migration::SharedPages shared{};
    int moved_units = 0;
  };
  [[nodiscard]] const std::vector<Call>& moves() const { return moves_; }
  [[nodiscard]] std::int64_t queries() const { return queries_; }
  [[nodiscard]] std::int64_t addresses_asked() const { return addresses_asked_; }
  /// Returns the number of absent pages that a reveal would have created.
  [[nodiscard]] std::int64_t holes_touched() const { return holes_touched_; }

 private:
  struct Page {
    std::int16_t node = -1;
    std::uint8_t busy_queueing = 0;
    std::uint8_t busy_moving = 0;
    bool pinned = false;
    bool hidden = false;
    bool shared = false;
    bool huge = false;
    bool queued = false;  ///< by the current call
  };
  struct Range {
    migration::MemoryRange description;
    std::vector<Page> pages;
  };
  struct Process {
    bool running = true;
    bool denied = false;
    std::optional<std::vector<NodeId>> cpuset;
    std::vector<Range> ranges;
  };
  struct Place {
    Range* range = nullptr;
    std::size_t first = 0;  ///< first of the pages that move together
    std::size_t count = 0;
    [[nodiscard]] Page& head() const { return range->pages[first]; }
  };

  [[nodiscard]] Process* find(const VmProcess& process);
  [[nodiscard]] Result<Process*> running(const VmProcess& process);
  [[nodiscard]] const FakeMemoryNode* node(NodeId id) const;
  [[nodiscard]] std::optional<Place> place(Process& process, std::uint64_t address) const;
  template <class Change>
  void each_page(const VmProcess& process, std::uint64_t start, Bytes length, Change change);
  /// What a query says there.
  [[nodiscard]] int status_at(Process& process, std::uint64_t address) const;
  [[nodiscard]] bool has_room(const Place& place, NodeId target) const;
  void relocate(const Place& place, int target);
  /// Migrates the queue; returns 0, the number of pages that failed, or -ENOMEM.
  long flush(std::vector<Place>& queue, NodeId target, migration::MoveResult& result);
  /// Returns the bytes used on the node in the pool of that page size; zero means ordinary pages.
  [[nodiscard]] Bytes used(NodeId node, Bytes pool) const;

  std::vector<FakeMemoryNode> nodes_;
  std::map<NodeId, Bytes> others_;
  std::map<std::pair<NodeId, Bytes>, Bytes> used_;
  std::map<VmProcess, Process> processes_;
  std::int64_t next_pid_ = 1000;
  FakeMoveCost cost_;
  std::vector<Call> moves_;
  std::int64_t queries_ = 0;
  std::int64_t addresses_asked_ = 0;
  std::int64_t holes_touched_ = 0;
};

}  // namespace vmnuma::tests
