// SPDX-License-Identifier: Apache-2.0
/// The command line that libvirt's hook, or a hookscript of Proxmox VE, is called with.
#pragma once

#include <span>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// `[--socket PATH] [--] NAME OPERATION [SUB-OPERATION [EXTRA]]`, as docs/hooks of libvirt has it;
/// with --pve `VMID PHASE`, as Proxmox VE's guide has it.
struct HookArguments {
  std::string vm;         ///< its name, or its VMID
  std::string operation;  ///< "prepare", "migrate", ...; "pre-start", "post-stop", ...
  bool is_pve = false;
  std::string socket_path;
  std::string state_dir;
  bool help = false;     ///< asked for; nothing else counts
  bool version = false;  ///< likewise
};

/// Reads the arguments (without the program's name). A VM's name may look like an option: nothing
/// after "--" is one. Error: invalid-argument.
[[nodiscard]] Result<HookArguments> parse_hook_arguments(std::span<const std::string> arguments);

/// What --help prints.
[[nodiscard]] std::string hook_help();

}  // namespace vmnuma::tools
