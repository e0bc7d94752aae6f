// SPDX-License-Identifier: Apache-2.0
/// What concerns hookscripts on a node of Proxmox VE: its VMs, and our script in a storage's
/// snippets.
///
/// Problem: a VM has at most one hookscript, and does not start if the script is missing
/// (qm.conf(5): hookscript). Approach: before our script is installed or removed, the
/// configurations of the whole cluster are checked; they are read, never written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "stats/files/directory.h"

namespace vmnuma::tools {

inline constexpr std::string_view kShippedPveScript = "usr/share/vmnuma/pve-hookscript";
inline constexpr std::string_view kPveScriptName = "vmnuma";

struct PveVm {
  std::int32_t vmid = 0;
  std::string name;        ///< "vm100" if it has none
  std::string node;        ///< empty: this one
  std::string hookscript;  ///< "local:snippets/vmnuma"; empty: none
  std::string affinity;    ///< empty: none
  /// Returns whether its hookscript has our script's name, in any storage.
  [[nodiscard]] bool has_our_script() const;
  /// Returns the storage of its hookscript: "local".
  [[nodiscard]] std::string storage() const { return hookscript.substr(0, hookscript.find(':')); }
  bool operator==(const PveVm&) const = default;
};

/// Reads the VMs of the whole cluster, ascending by VMID; VMs with an unreadable configuration are
/// left out. `root` is the host's root directory. Error: not-found if it is not a node of Proxmox
/// VE.
[[nodiscard]] Result<std::vector<PveVm>> read_pve_vms(const files::Directory& root);

/// Returns the directory of a storage's snippets, relative to the root, according to
/// /etc/pve/storage.cfg; empty if the storage has no directory or is unknown.
[[nodiscard]] std::string snippets_of(const files::Directory& root, std::string_view storage);

enum class PveScript {
  kMissing,
  kCurrent,
  kOther,        ///< not this version's script
  kUnexecutable  ///< Proxmox VE treats it as missing
};
/// Checks what is in a directory of snippets, relative to the root.
[[nodiscard]] PveScript pve_script_in(const files::Directory& root, std::string_view snippets);

}  // namespace vmnuma::tools
