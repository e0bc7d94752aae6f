// SPDX-License-Identifier: Apache-2.0
/// Describes a Proxmox VE VM before it starts.
///
/// Problem: whether a VM fits must be known before it has a process. Approach: the options that
/// qemu-server (8 and 9) gives QEMU are derived from the VM's configuration (pve_config.h), to the
/// extent that they concern its placement; they are described like those of a running VM, so that
/// both have the same meaning and the same id.
///
/// Not known before the start, and left out: additions by `args`, disks on storages, devices of a
/// cluster-wide mapping, mediated devices. Memory that is plugged in parts counts as a whole.
///
/// Properties:
///  - any configuration gives a VM;
///  - the id is the one that the running VM will have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/qemu/pve_config.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "stats/files/directory.h"

namespace vmnuma::balancer::qemu {

/// Properties of the host that the options depend on.
struct PveHost {
  Bytes default_huge_page_size;
  bool has_gib_pages = false;
};

/// Describes the VM with id, name and policy; without a process, pins and the nodes of its devices.
[[nodiscard]] VmDescription describe_pve(const PveConfig& config, std::int32_t vmid,
                                         const PveHost& host);

/// Does the same for a VM that is about to start on this host. `root` is the host's root directory.
/// Errors: not-found, io.
[[nodiscard]] Result<VmDescription> read_pve_vm(const files::Directory& root, std::int32_t vmid);

}  // namespace vmnuma::balancer::qemu
