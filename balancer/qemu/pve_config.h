// SPDX-License-Identifier: Apache-2.0
/// Reads a VM's configuration in Proxmox VE, /etc/pve/qemu-server/VMID.conf.
///
/// Problem: QEMU's command line contains neither what the administrator has written for us nor a
/// requested affinity. Approach: the file is read, never written: it belongs to the whole cluster.
/// Its format (qm.conf(5), Proxmox VE 8 and 9): lines "KEY: VALUE"; lines with # before them are
/// the description, in which %XX is a character; what follows a line [NAME] is a snapshot or a
/// pending change and does not count. The file of a VM that is migrating to this node is still in
/// the folder of its source node, /etc/pve/nodes/NAME/qemu-server/VMID.conf (pmxcfs(8)). A line of
/// the description
///
///     vmnuma: nodes=0-1 do_not_move=true
///
/// is the VM's policy, with the keys of vmnuma-metadata(5). Its tags that begin with "vmnuma." are
/// policy as well, and Proxmox VE's pages display and set them: "vmnuma.KEY.VALUE", in which +
/// stands for the comma that a tag cannot contain (pve-tag in PVE::JSONSchema: letters, digits and
/// _-+.), and "vmnuma.KEY" for KEY=true. Both are read when the VM starts, and when the daemon
/// does.
///
/// Properties:
///  - any text gives a configuration;
///  - keys and tags that are not ours are ignored;
///  - the description overrides tags with the same key;
///  - words of a policy line and tags of ours that are not settings become unknown settings, which
///    the check then reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/qemu/described_vm.h"
#include "balancer/qemu/option_group.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "stats/files/directory.h"

namespace vmnuma::balancer::qemu {

/// The value of the first setting with this key; empty if there is none.
[[nodiscard]] std::string_view value_of(const std::vector<Setting>& settings, std::string_view key);

struct PveConfig {
  std::vector<Setting> settings;      ///< except the description
  std::vector<PolicySetting> policy;  ///< from the description, then from tags
  /// The value of a key such as "affinity"; empty if it is not set.
  [[nodiscard]] std::string_view value(std::string_view key) const {
    return value_of(settings, key);
  }
  bool operator==(const PveConfig&) const = default;
};

[[nodiscard]] PveConfig parse_pve_config(std::string_view text);

/// Reads the VM's file on this node or, while it is migrating, on another one. `root` is the host's
/// root directory. Errors: not-found, io.
[[nodiscard]] Result<PveConfig> read_pve_config(const files::Directory& root, std::int32_t vmid);

/// What the configuration asks of us: the VM's policy, and that a VM with an affinity is left
/// alone.
[[nodiscard]] std::vector<PolicySetting> policy_of(const PveConfig& config);

/// Gives a VM in this cgroup the policy in Proxmox VE's configuration. A VM with an affinity must
/// be left where it is, which a note reports; another note reports a file that cannot be read. VMs
/// that are not Proxmox VE's are unchanged. `root` is the host's root directory.
void add_pve_policy(const files::Directory& root, std::string_view cgroup, DescribedVm& vm);

/// The number of the VM with this scope, such as "/qemu.slice/100.scope"; nothing for other
/// cgroups.
[[nodiscard]] std::optional<std::int32_t> vmid_of_scope(std::string_view cgroup);

}  // namespace vmnuma::balancer::qemu
