// SPDX-License-Identifier: Apache-2.0
/// The page mover over move_pages(2), /proc and /sys.
///
/// Rights: ptrace read access to the VM's process (CAP_SYS_PTRACE for another user's), CAP_SYS_NICE
/// to move shared pages. Start times are compared before and after each system call that names a
/// pid, so a reused pid gives an error, never data about another process.
///
/// Finding and copying pages keeps a CPU busy on whatever node the kernel happens to run the
/// thread, and looks like foreign load there, so each call's CPU time is charged to the CPU on
/// which it ends; one call moves a chunk, which takes milliseconds.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "migration/linux/process_descriptor.h"
#include "migration/page_mover.h"
#include "stats/files/directory.h"

namespace vmnuma::migration {

class LinuxPageMover final : public PageMover {
 public:
  /// `root` contains proc and sys; "/" on a live host. Error: it cannot be opened.
  [[nodiscard]] static Result<LinuxPageMover> open(const std::string& root);

  [[nodiscard]] Result<void> check(const VmProcess& process) override;
  [[nodiscard]] Result<std::vector<MemoryRange>> find_ranges(const VmProcess& process) override;
  [[nodiscard]] Result<std::vector<int>> query(const VmProcess& process,
                                               std::span<const std::uint64_t> addresses) override;
  [[nodiscard]] Result<void> reveal(const VmProcess& process,
                                    std::span<const std::uint64_t> addresses, Bytes unit) override;
  [[nodiscard]] Result<MoveResult> move(const VmProcess& process,
                                        std::span<const std::uint64_t> addresses, NodeId node,
                                        SharedPages shared) override;
  [[nodiscard]] Result<NodeMemory> node_memory(NodeId node) override;

  /// CPU time of all calls so far (CLOCK_THREAD_CPUTIME_ID), by the CPU on which they ended. Any
  /// thread; never decreases.
  [[nodiscard]] std::map<CpuId, CpuTime> used() const;

 private:
  LinuxPageMover(files::Directory root, Bytes huge_page_size, bool reports_hidden_pages)
      : root_(std::move(root)),
        huge_page_size_(huge_page_size),
        reports_hidden_pages_(reports_hidden_pages) {}
  /// A process with a verified identity; its descriptor shows reliably whether it has ended.
  struct Known {
    VmProcess process;
    files::Directory directory;  ///< its directory in /proc
    ProcessDescriptor descriptor;
  };
  /// The process, if it is running now. Valid until the next call.
  [[nodiscard]] Result<const Known*> known(const VmProcess& process);

  struct Use {
    std::mutex mutex;
    std::map<CpuId, CpuTime> by_cpu;
  };
  class Metered;

  files::Directory root_;
  std::unique_ptr<Use> use_ = std::make_unique<Use>();
  Bytes huge_page_size_;
  bool reports_hidden_pages_;
  std::optional<Known> last_;  ///< calls for the same process come in runs
};

}  // namespace vmnuma::migration
