// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/linux_page_mover.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include <fmt/format.h>
#include <linux/mman.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "migration/linux/movable_ranges.h"
#include "migration/linux/node_files.h"
#include "stats/formats/maps.h"
#include "stats/formats/node_formats.h"
#include "stats/formats/numa_maps.h"
#include "stats/formats/proc_formats.h"

namespace vmnuma::migration {

namespace {

Error vanished(const VmProcess& process) {
  return {ErrorCode::kVanished, ESRCH, fmt::format("process {} has ended", process.pid)};
}

/// Checks that the directory belongs to the process, which must still be running.
Result<void> check_identity(const files::Directory& directory, const VmProcess& process) {
  const auto text = directory.read("stat");
  if (!text) {
    return tl::unexpected(text.error().is_gone() ? vanished(process) : text.error());
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto stat, stats::parse_process_stat(*text));
  if (stat.start_time_ticks != process.start_time_ticks || stat.has_ended()) {
    return tl::unexpected(vanished(process));
  }
  return {};
}

std::int64_t microseconds_of(clockid_t clock) {
  timespec now{};
  (void)::clock_gettime(clock, &now);  // cannot fail with these clocks
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

/// move_pages takes pointers; the addresses are another process's and are never dereferenced here.
std::vector<void*> as_pointers(std::span<const std::uint64_t> addresses) {
  std::vector<void*> pointers;
  pointers.reserve(addresses.size());
  for (const std::uint64_t address : addresses) {
    pointers.push_back(reinterpret_cast<void*>(address));
  }
  return pointers;
}

Error move_error(int errno_value, const VmProcess& process, std::optional<NodeId> node) {
  const std::string target = node ? fmt::format(" to node {}", node->value) : std::string{};
  const auto error = [&](ErrorCode code, std::string_view why) {
    return Error{code, errno_value,
                 fmt::format("cannot {} pages of process {}{}: {}", node ? "move" : "find",
                             process.pid, target, why)};
  };
  switch (errno_value) {
    case ESRCH:
    case EINVAL:  // it is ending and no longer has memory (Linux 6.1, mm/migrate.c,
                  // find_mm_struct())
      return vanished(process);
    case EPERM:
      return error(ErrorCode::kPermissionDenied,
                   "no permission (CAP_SYS_PTRACE, and CAP_SYS_NICE for shared pages)");
    case EACCES:
      return error(ErrorCode::kUnsupported, "its cpuset does not allow the node");
    case ENODEV:
      return error(ErrorCode::kNotFound, "there is no such node, or it has no memory");
    case ENOMEM:
      return error(ErrorCode::kNoSpace, "the node has no free memory");
    default:
      return error(ErrorCode::kIo, std::generic_category().message(errno_value));
  }
}

/// True if this kernel reports -EFAULT for a page that never existed. Linux 6.1 does, so its
/// -ENOENT means a page that NUMA balancing has hidden. Kernels that report -ENOENT for both (6.18
/// does) hide none.
bool reports_hidden_pages() {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return false;
  }
  int status = 0;
  const long result = ::move_pages(0, 1, &page, nullptr, &status, 0);
  (void)::munmap(page, size);  // a whole mapping of our own
  return result == 0 && status == -EFAULT;
}

/// Keeps pages that this thread touches on their nodes while it exists. NUMA balancing migrates a
/// page to the thread that touches it only if neither has a policy (Linux 6.1, mm/mempolicy.c,
/// mpol_misplaced()); this policy allocates as the default does.
class PagesStayPolicy {
 public:
  PagesStayPolicy() { (void)::set_mempolicy(MPOL_LOCAL, nullptr, 0); }  // else some move: no harm
  PagesStayPolicy(const PagesStayPolicy&) = delete;
  PagesStayPolicy& operator=(const PagesStayPolicy&) = delete;
  ~PagesStayPolicy() { (void)::set_mempolicy(MPOL_DEFAULT, nullptr, 0); }  // as above
};

/// Returns those of the blocks that are huge pages already. For these, MADV_COLLAPSE has nothing to
/// do and succeeds; for a block without pages it fails and does nothing (Linux 6.1,
/// mm/khugepaged.c, madvise_collapse()). Not for blocks of small pages: it would collapse them.
std::vector<std::uint64_t> huge_pages_among(const ProcessDescriptor& process,
                                            std::span<const std::uint64_t> blocks, Bytes size) {
  std::vector<std::uint64_t> found;
  for (const std::uint64_t block : blocks) {
    const iovec range{reinterpret_cast<void*>(block), static_cast<std::size_t>(size.value)};
    if (::process_madvise(process.fd(), &range, 1, MADV_COLLAPSE, 0) == size.value) {
      found.push_back(block);
    }
  }
  return found;
}

/// Reads one byte at each address; skips those that cannot be read.
Result<void> touch(const VmProcess& process, std::span<const std::uint64_t> addresses) {
  constexpr std::size_t kMostAtOnce = 1024;  // IOV_MAX of Linux
  const PagesStayPolicy policy;
  std::size_t done = 0;
  while (done < addresses.size()) {
    std::vector<iovec> remote;
    for (const std::uint64_t address :
         addresses.subspan(done, std::min(kMostAtOnce, addresses.size() - done))) {
      remote.push_back({reinterpret_cast<void*>(address), 1});
    }
    std::array<char, kMostAtOnce> bytes;
    const iovec local{bytes.data(), remote.size()};
    const ssize_t read = ::process_vm_readv(static_cast<pid_t>(process.pid), &local, 1,
                                            remote.data(), remote.size(), 0);
    if (read < 0 && errno != EFAULT) {
      return tl::unexpected(move_error(errno, process, std::nullopt));
    }
    // The system call stops at the first address that cannot be read.
    const auto count = static_cast<std::size_t>(std::max<ssize_t>(read, 0));
    done += count < remote.size() ? count + 1 : count;
  }
  return {};
}

/// The size of a transparent huge page; zero where the kernel has none.
Bytes read_huge_page_size(const files::Directory& root) {
  const auto text = root.read("sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  return {text.and_then([](const std::string& size) {
                return stats::parse_single_number("a size", size);
              })
              .value_or(0)};
}

}  // namespace

/// Accounts for the CPU time of this thread while it exists.
class LinuxPageMover::Metered {
 public:
  explicit Metered(Use& use) : use_(use) {}
  Metered(const Metered&) = delete;
  Metered& operator=(const Metered&) = delete;
  ~Metered() {
    const CpuTime used{microseconds_of(CLOCK_THREAD_CPUTIME_ID) - begun_at_us_};
    const int cpu = ::sched_getcpu();
    if (cpu >= 0) {
      const std::lock_guard lock(use_.mutex);
      use_.by_cpu[CpuId{cpu}] += used;
    }
  }

 private:
  Use& use_;
  const std::int64_t begun_at_us_ = microseconds_of(CLOCK_THREAD_CPUTIME_ID);
};

Result<LinuxPageMover> LinuxPageMover::open(const std::string& root) {
  VMNUMA_ASSIGN_OR_RETURN(auto directory, files::Directory::open(root));
  const Bytes huge_page_size = read_huge_page_size(directory);
  return LinuxPageMover(std::move(directory), huge_page_size, reports_hidden_pages());
}

Result<const LinuxPageMover::Known*> LinuxPageMover::known(const VmProcess& process) {
  if (last_ && last_->process == process) {
    if (!last_->descriptor.runs()) {
      return tl::unexpected(vanished(process));
    }
    return &*last_;
  }
  auto directory = root_.directory(fmt::format("proc/{}", process.pid));
  if (!directory) {
    return tl::unexpected(directory.error().code == ErrorCode::kNotFound ? vanished(process)
                                                                         : directory.error());
  }
  auto descriptor = ProcessDescriptor::open(process.pid);
  if (!descriptor) {
    return tl::unexpected(descriptor.error().code == ErrorCode::kVanished ? vanished(process)
                                                                          : descriptor.error());
  }
  // The directory's process is verified after the descriptor was opened, so both are of the same
  // process.
  VMNUMA_RETURN_IF_ERROR(check_identity(*directory, process));
  last_.emplace(Known{process, std::move(*directory), std::move(*descriptor)});
  return &*last_;
}

Result<void> LinuxPageMover::check(const VmProcess& process) {
  const Metered metered(*use_);
  return known(process).map([](const Known* /*runs*/) {});
}

Result<std::vector<MemoryRange>> LinuxPageMover::find_ranges(const VmProcess& process) {
  const Metered metered(*use_);
  VMNUMA_ASSIGN_OR_RETURN(const auto found, known(process));
  const auto read = [&]() -> Result<std::vector<MemoryRange>> {
    const files::Directory& directory = found->directory;
    VMNUMA_ASSIGN_OR_RETURN(const auto maps_text, directory.read("maps"));
    if (maps_text.empty()) {  // it is ending and no longer has memory
      return tl::unexpected(vanished(process));
    }
    VMNUMA_ASSIGN_OR_RETURN(const auto numa_maps_text, directory.read("numa_maps"));
    VMNUMA_ASSIGN_OR_RETURN(const auto mappings, stats::parse_maps(maps_text));
    VMNUMA_ASSIGN_OR_RETURN(const auto pages, stats::parse_numa_maps(numa_maps_text));
    return movable_ranges(mappings, pages, huge_page_size_);
  };
  auto ranges = read();
  // The files of a process that is ending are empty or unreadable; "ended" is the better answer.
  if (!found->descriptor.runs()) {
    return tl::unexpected(vanished(process));
  }
  if (!ranges) {
    return failure(std::move(ranges).error(),
                   fmt::format("while reading the mappings of process {}", process.pid));
  }
  return ranges;
}

Result<std::vector<int>> LinuxPageMover::query(const VmProcess& process,
                                               std::span<const std::uint64_t> addresses) {
  const Metered metered(*use_);
  VMNUMA_ASSIGN_OR_RETURN(const auto found, known(process));
  std::vector<void*> pointers = as_pointers(addresses);
  std::vector<int> statuses(addresses.size(), -ENOENT);
  const long result = ::move_pages(static_cast<int>(process.pid), pointers.size(), pointers.data(),
                                   nullptr, statuses.data(), 0);
  const int errno_value = errno;
  if (!found->descriptor.runs()) {
    return tl::unexpected(vanished(process));
  }
  if (result < 0) {
    return tl::unexpected(move_error(errno_value, process, std::nullopt));
  }
  return statuses;
}

Result<void> LinuxPageMover::reveal(const VmProcess& process,
                                    std::span<const std::uint64_t> addresses, Bytes unit) {
  const Metered metered(*use_);
  VMNUMA_ASSIGN_OR_RETURN(const auto found, known(process));
  if (!reports_hidden_pages_) {
    return {};
  }
  std::vector<std::uint64_t> present(addresses.begin(), addresses.end());
  if (unit == huge_page_size_) {
    present = huge_pages_among(found->descriptor, addresses, unit);
  } else {
    VMNUMA_ASSIGN_OR_RETURN(const auto status, found->directory.read("status"));
    if (stats::has_swapped_pages(status)) {
      return {};
    }
  }
  auto touched = touch(process, present);
  if (!found->descriptor.runs()) {
    return tl::unexpected(vanished(process));
  }
  return touched;
}

Result<MoveResult> LinuxPageMover::move(const VmProcess& process,
                                        std::span<const std::uint64_t> addresses, NodeId node,
                                        SharedPages shared) {
  const Metered metered(*use_);
  VMNUMA_ASSIGN_OR_RETURN(const auto found, known(process));
  std::vector<void*> pointers = as_pointers(addresses);
  const std::vector<int> nodes(addresses.size(), node.value);
  MoveResult moved{.not_moved = 0,
                   .statuses = std::vector<int>(addresses.size(), kStatusNotWritten),
                   .elapsed = {}};
  const int flags = shared == SharedPages::kMove ? MPOL_MF_MOVE_ALL : MPOL_MF_MOVE;
  const std::int64_t before_us = microseconds_of(CLOCK_MONOTONIC);
  const long result = ::move_pages(static_cast<int>(process.pid), pointers.size(), pointers.data(),
                                   nodes.data(), moved.statuses.data(), flags);
  const int errno_value = errno;
  moved.elapsed = {microseconds_of(CLOCK_MONOTONIC) - before_us};
  if (!found->descriptor.runs()) {
    return tl::unexpected(vanished(process));
  }
  if (result < 0) {
    return tl::unexpected(move_error(errno_value, process, node));
  }
  moved.not_moved = result;
  return moved;
}

Result<NodeMemory> LinuxPageMover::node_memory(NodeId node) {
  const Metered metered(*use_);
  return read_node_memory(root_, node);
}

std::map<CpuId, CpuTime> LinuxPageMover::used() const {
  const std::lock_guard lock(use_->mutex);
  return use_->by_cpu;
}

}  // namespace vmnuma::migration
