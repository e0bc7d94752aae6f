// SPDX-License-Identifier: Apache-2.0
/// A node of Proxmox VE as far as hookscripts are concerned: its VMs, and ours in a storage's
/// snippets.
///
/// Problem: a VM has one hookscript at most, and does not start where that is missing
/// (qm.conf(5): hookscript). Approach: who puts ours in place or takes it away looks first at what
/// the configurations of the whole cluster say; they are read, never written.
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
  /// Whether its hookscript is called as ours, in whatever storage.
  [[nodiscard]] bool has_our_script() const;
  bool operator==(const PveVm&) const = default;
};

/// Of the whole cluster, ascending by VMID; VMs whose configuration cannot be read are left out.
/// `root` is the host's root directory. Error: not-found if it is no node of Proxmox VE.
[[nodiscard]] Result<std::vector<PveVm>> read_pve_vms(const files::Directory& root);

enum class PveScript {
  kMissing,
  kCurrent,
  kOther,        ///< not the one of this version
  kUnexecutable  ///< Proxmox VE takes it for missing
};
/// What is in a directory of snippets, below the root.
[[nodiscard]] PveScript pve_script_in(const files::Directory& root, std::string_view snippets);

}  // namespace vmnuma::tools
