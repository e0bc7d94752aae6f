// SPDX-License-Identifier: Apache-2.0
/// Derives a VM's description from a QEMU command line.
///
/// Problem: a VM started by a script, Proxmox VE, Incus or Kata has no stored definition; its
/// description is QEMU's command line, with QEMU's defaults for what is left out. Approach: one
/// pure function from options to a description. Nothing unusual stops it: whatever matters and is
/// not understood becomes a note, and the VM is described without it. Only QEMU's documented
/// meaning counts (qemu-options.hx, 7.2 to 10.0; hw/core/machine-smp.c, hw/core/numa.c for
/// defaults).
///
/// Terms: *backend*, a -object memory-backend-*; those of numa cells, of -machine memory-backend
/// and of DIMMs hold the guest's memory, others (a disk image as nvdimm) do not.
///
/// Properties:
///  - any options give a description, in bounded memory;
///  - a description keeps the promises of placement/model/domain.h (ascending, unique, in range);
///  - what was not understood is reported in `notes`, each once;
///  - pins, process and vCPU threads are not here: they are facts of the running process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/qemu/command_line.h"
#include "placement/model/amounts.h"
#include "placement/model/domain.h"

namespace vmnuma::balancer::qemu {

/// A hugetlbfs mount, and its page size.
struct HugePageMount {
  std::string path;
  Bytes page_size;
  bool operator==(const HugePageMount&) const = default;
};

/// Facts of the host on which the meaning of a command line depends.
struct HostFacts {
  std::vector<HugePageMount> huge_page_mounts;
  Bytes default_huge_page_size;  ///< Hugepagesize of /proc/meminfo
};

struct DescribedVm {
  /// Without id, domain_id and pins; vcpus are those present at the start.
  VmDescription description;
  std::optional<VmId> uuid;                  ///< from -uuid or SMBIOS; nothing: from neither
  std::vector<std::string> io_thread_names;  ///< the ids of the objects of description.io_threads
  bool is_of_libvirt = false;                ///< libvirt started it and manages it
  std::vector<std::string> notes;
};

[[nodiscard]] DescribedVm describe(const CommandLine& line, const HostFacts& host);

/// A UUID (RFC 9562, version 8) derived from `text`.
[[nodiscard]] VmId id_from(std::string_view text);
/// The VM's UUID, or one derived from its name, which is not empty.
[[nodiscard]] VmId id_of(const DescribedVm& vm);

}  // namespace vmnuma::balancer::qemu
