// SPDX-License-Identifier: Apache-2.0
/// A VM's configuration in Proxmox VE, /etc/pve/qemu-server/VMID.conf.
///
/// Problem: QEMU's command line does not say what the administrator has written for us, nor that an
/// affinity was asked for. Approach: the file is read, never written: it is one of the whole
/// cluster. Its format (qm.conf(5), Proxmox VE 8 and 9): lines "KEY: VALUE"; lines with # before
/// them are the description, in which %XX is a character; what follows a line [NAME] is a snapshot
/// or a pending change and does not count. That of a VM which is migrating to this node is still
/// among those of the node that it comes from, /etc/pve/nodes/NAME/qemu-server/VMID.conf
/// (pmxcfs(8)). A line of the description
///
///     vmnuma: nodes=0-1 do_not_move=true
///
/// is the VM's policy, by the keys of vmnuma-metadata(5). So are its tags that begin with
/// "vmnuma.", which the pages of Proxmox VE show and set: "vmnuma.KEY.VALUE", in which + stands for
/// the comma that a tag cannot have (pve-tag in PVE::JSONSchema: letters, digits and _-+.), and
/// "vmnuma.KEY" for KEY=true. Both are read when the VM starts, and when the daemon does.
///
/// Properties:
///  - any text gives a configuration;
///  - keys and tags that are not ours are passed over;
///  - a key that the description sets, too, is as the description says;
///  - words of a policy line and tags of ours that are no settings are settings that nobody knows,
///    so that what checks them can say so.
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

struct PveConfig {
  std::vector<Setting> settings;                 ///< but for the description
  std::vector<placement::PolicySetting> policy;  ///< of the description, then of tags
  /// Of a key, "affinity"; empty if it is not set.
  [[nodiscard]] std::string_view value(std::string_view key) const;
  bool operator==(const PveConfig&) const = default;
};

[[nodiscard]] PveConfig parse_pve_config(std::string_view text);

/// That of the VM, of this node or, as it is migrating, of another one. `root` is the host's root
/// directory. Errors: not-found, io.
[[nodiscard]] Result<PveConfig> read_pve_config(const files::Directory& root, std::int32_t vmid);

/// What its configuration wants of us: its policy, and hands off a VM with an affinity.
[[nodiscard]] std::vector<placement::PolicySetting> policy_of(const PveConfig& config);

/// Gives a VM in this cgroup the policy that Proxmox VE's configuration has for it; one with an
/// affinity is to be left where it is, and a note says so, as one does if the file cannot be read.
/// Nothing happens to a VM of somebody else. `root` is the host's root directory.
void add_pve_policy(const files::Directory& root, std::string_view cgroup, DescribedVm& vm);

/// The number of the VM whose scope this is, "/qemu.slice/100.scope"; nothing for other cgroups.
[[nodiscard]] std::optional<std::int32_t> vmid_of_scope(std::string_view cgroup);

}  // namespace vmnuma::balancer::qemu
