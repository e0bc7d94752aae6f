// SPDX-License-Identifier: Apache-2.0
/// The kernel of a simulated host, as a page mover sees it.
///
/// Page moves reproduce the behaviour of move_pages(2) of Linux 6.1 (mm/migrate.c), quirks
/// included, and take time on the worker's clock. Property: memory is neither lost nor created.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "migration/page_mover.h"
#include "tools/sim/host/host_state.h"

namespace vmnuma::tools {

class SimKernel final : public migration::PageMover {
 public:
  /// `host` must outlive it.
  explicit SimKernel(HostState& host) : host_(host) {}

  /// Pins all threads of the VM at once by writing its cpuset, bypassing libvirt. Error: not-found.
  [[nodiscard]] Result<void> bind(const VmId& vm, const std::vector<CpuId>& cpus);

  [[nodiscard]] Result<void> check(const VmProcess& process) override;
  [[nodiscard]] Result<std::vector<migration::MemoryRange>> find_ranges(
      const VmProcess& process) override;
  [[nodiscard]] Result<void> reveal(const VmProcess& process,
                                    std::span<const std::uint64_t> addresses, Bytes unit) override;
  [[nodiscard]] Result<std::vector<int>> query(const VmProcess& process,
                                               std::span<const std::uint64_t> addresses) override;
  [[nodiscard]] Result<migration::MoveResult> move(const VmProcess& process,
                                                   std::span<const std::uint64_t> addresses,
                                                   NodeId node,
                                                   migration::SharedPages shared) override;
  [[nodiscard]] Result<migration::NodeMemory> node_memory(NodeId node) override;

 private:
  struct Call;  ///< a page migration call

  [[nodiscard]] Result<SimVm*> find(const VmProcess& process);
  /// Returns the number of pages that are mapped below this cell's.
  [[nodiscard]] std::int64_t pages_below(const SimVm& vm, std::size_t cell) const;
  /// Returns the page at an address; -1 if the address is not the VM's.
  [[nodiscard]] std::int64_t page_at(const SimVm& vm, std::uint64_t address) const;
  [[nodiscard]] bool flush(Call& call);

  HostState& host_;
  std::map<NodeId, Bytes> reported_free_;
};

}  // namespace vmnuma::tools
