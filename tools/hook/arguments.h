// SPDX-License-Identifier: Apache-2.0
/// The command line of libvirt's hook, or of a hookscript of Proxmox VE.
#pragma once

#include <span>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// `[--socket PATH] [--] NAME OPERATION [SUB-OPERATION [EXTRA]]`, as in docs/hooks of libvirt; with
/// --pve `VMID PHASE`, as in Proxmox VE's guide.
struct HookArguments {
  std::string vm;         ///< its name, or its VMID
  std::string operation;  ///< "prepare", "migrate", ...; "pre-start", "post-stop", ...
  bool is_pve = false;
  std::string socket_path;
  std::string state_dir;
  bool help = false;     ///< requested; everything else is ignored
  bool version = false;  ///< likewise
};

/// Reads the arguments (without the program's name). A VM's name may look like an option: nothing
/// after "--" is parsed as one. Error: invalid-argument.
[[nodiscard]] Result<HookArguments> parse_hook_arguments(std::span<const std::string> arguments);

/// What --help prints.
[[nodiscard]] std::string hook_help();

}  // namespace vmnuma::tools
