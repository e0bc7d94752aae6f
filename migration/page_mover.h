// SPDX-License-Identifier: Apache-2.0
/// The port for finding and moving pages. Its functions mirror the system calls behind it, so that
/// a fake can be faithful to the kernel: move_pages(2) of Linux 6.1 (mm/migrate.c) and its quirks
/// are part of the contract.
///
/// Implemented by migration/linux over the kernel and by the simulated memory; both pass the same
/// contract tests.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/node_bytes.h"
#include "placement/model/sample.h"

namespace vmnuma::migration {

/// One mapping of a process with movable memory.
struct MemoryRange {
  std::uint64_t start = 0;  ///< first address, a multiple of page_size
  Bytes length;             ///< a multiple of page_size
  Bytes page_size;          ///< what one address covers: 4 KiB, or the hugetlb page size
  Bytes
      huge_page_size;  ///< of transparent huge pages that may back it; zero = none, as for hugetlb
  bool hugetlb = false;  ///< its pages come from the nodes' pools of page_size
  bool shared = false;   ///< other processes may map the same pages (memfd, /dev/shm)
  std::string policy;    ///< an explicit memory policy, "bind:0-1"; empty = the process's own
  std::vector<NodeBytes> resident;  ///< where its pages are, ascending node; empty without pages
  bool operator==(const MemoryRange&) const = default;
};

/// The status of a page for which the kernel wrote none.
inline constexpr int kStatusNotWritten = std::numeric_limits<int>::min();

struct MoveResult {
  /// 0: every status is written and correct. Positive: that many pages were not moved or not even
  /// tried, and statuses may be missing even for pages that did move; only a query shows which.
  std::int64_t not_moved = 0;
  /// One per address: the node that the page is now on, or a negative errno: -EACCES shared with
  /// another process and SharedPages::kLeave, -EBUSY, -EFAULT or -ENOENT no page there, or
  /// kStatusNotWritten.
  std::vector<int> statuses;
  Microseconds elapsed;  ///< duration of the call
};

/// Free pages of one size in a node's hugetlb pool.
struct PoolFree {
  Bytes page_size;
  std::int64_t pages = 0;
  bool operator==(const PoolFree&) const = default;
};

struct NodeMemory {
  Bytes total;
  Bytes available;              ///< free, or clean file cache not used recently
  std::vector<PoolFree> pools;  ///< ascending page size
  bool operator==(const NodeMemory&) const = default;
};

/// Whether pages that are also mapped by other processes are moved (needs CAP_SYS_NICE). Not for
/// private memory: pages that same-page merging shares between VMs would be pulled back and forth.
enum class SharedPages { kLeave, kMove };

/// All calls block; executor worker only. The process is named by pid and start time, and every
/// call verifies before and after that it is still that process. Errors of all: vanished (the
/// process no longer exists), permission-denied (needs ptrace access to it), io.
class PageMover {
 public:
  virtual ~PageMover() = default;

  /// Succeeds if the process is still running. Needs no privileges.
  [[nodiscard]] virtual Result<void> check(const VmProcess& process) = 0;

  /// The mappings that hold memory of the process's own: anonymous, hugetlb, memfd, other shared
  /// memory. Program text and libraries are left out, because they belong to every process that
  /// runs them. Includes writable mappings without a page yet. Ascending address. Walks the page
  /// tables: about 10 ms per GiB of 4 KiB pages. Error also: corrupt.
  [[nodiscard]] virtual Result<std::vector<MemoryRange>> find_ranges(const VmProcess& process) = 0;

  /// The location of each page: its node, or a negative errno (-ENOENT or -EFAULT: no page there).
  /// Moves nothing.
  [[nodiscard]] virtual Result<std::vector<int>> query(
      const VmProcess& process, std::span<const std::uint64_t> addresses) = 0;

  /// Makes pages visible that the kernel's NUMA balancing has hidden to learn which threads touch
  /// them: query and move report them as absent until a thread does (Linux 6.1, mm/gup.c: -ENOENT,
  /// while a page that never existed is -EFAULT; but a hidden huge page is -EFAULT, too). Each
  /// address covers `unit` bytes. If `unit` is the page size, the address is read; in shared
  /// memory, or where there is no page, that would create one, so use it only for pages that are
  /// known to exist. If `unit` is the huge page size, it is verified that there is a huge page, and
  /// nothing is touched otherwise (needs CAP_SYS_NICE, does nothing without). Never moves a page.
  /// Does nothing on kernels that hide no pages, nor for single pages of a process with pages in
  /// swap, which a read would bring in.
  [[nodiscard]] virtual Result<void> reveal(const VmProcess& process,
                                            std::span<const std::uint64_t> addresses,
                                            Bytes unit) = 0;

  /// Moves the pages at these addresses to `node`. One address moves a whole huge page; for a
  /// hugetlb page it must be the page's first address (Linux 6.1 refuses any other, 6.12 moves the
  /// page). Errors also: unsupported (the process's cpuset does not allow the node), not-found (no
  /// such node, or it has no memory), no-space (the node is full; some pages may have moved).
  [[nodiscard]] virtual Result<MoveResult> move(const VmProcess& process,
                                                std::span<const std::uint64_t> addresses,
                                                NodeId node, SharedPages shared) = 0;

  /// The memory that a node has free now. Error also: not-found, corrupt.
  [[nodiscard]] virtual Result<NodeMemory> node_memory(NodeId node) = 0;
};

}  // namespace vmnuma::migration
