// SPDX-License-Identifier: Apache-2.0
/// What a VM of Proxmox VE will be when it starts.
///
/// Problem: whether a VM fits must be known before there is a process of it. Approach: from its
/// configuration (pve_config.h) come the options that qemu-server (8 and 9) gives QEMU, as far as
/// they say something of the VM's place; they are described as those of a running VM are, so that
/// both have one meaning and one id.
///
/// Not known before the start, and left out: what `args` adds, disks on storages, devices of a
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

/// What the options depend on beside the configuration.
struct PveHost {
  placement::Bytes default_huge_page_size;
  bool has_gib_pages = false;
};

/// The VM with id, name and policy; without a process, pins and nodes of its devices.
[[nodiscard]] placement::VmDescription describe_pve(const PveConfig& config, std::int32_t vmid,
                                                    const PveHost& host);

/// The same of a VM that is about to start here. `root` is the host's root directory. Errors:
/// not-found, io.
[[nodiscard]] Result<placement::VmDescription> read_pve_vm(const files::Directory& root,
                                                           std::int32_t vmid);

}  // namespace vmnuma::balancer::qemu
