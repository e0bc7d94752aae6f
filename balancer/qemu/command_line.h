// SPDX-License-Identifier: Apache-2.0
/// A QEMU process's command line, taken apart.
///
/// Problem: QEMU has hundreds of options, and the kernel keeps them as bytes with zeros between.
/// Approach: an argument that begins with a dash is an option, the next one its value unless it
/// begins with a dash, too; options that say something about a VM's place become groups
/// (option_group.h), all others are passed over.
///
/// Properties:
///  - one dash and two are the same;
///  - no text makes it fail; an option that matters and cannot be read is named in `notes`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "balancer/qemu/option_group.h"

namespace vmnuma::balancer::qemu {

struct CommandLine {
  std::vector<OptionGroup> options;
  std::vector<std::string> config_files;  ///< of -readconfig, that were not added yet
  std::vector<std::string> notes;         ///< what was not understood, as sentences

  /// The last of these groups that has the key, as QEMU merges them ("-smp", "-m", "-machine").
  [[nodiscard]] std::optional<std::string_view> merged(std::string_view group,
                                                       std::string_view key) const;
};

/// True of the command lines of a system emulator: programs called qemu-system-ARCH, qemu-kvm or
/// kvm, wherever they are. `cmdline` is /proc/PID/cmdline (proc(5)).
[[nodiscard]] bool is_qemu(std::string_view cmdline);

[[nodiscard]] CommandLine parse_command_line(std::string_view cmdline);

/// Adds what a file of `config_files` says, and takes it from there.
void add_config_file(std::string_view text, std::string_view path, CommandLine& line);

}  // namespace vmnuma::balancer::qemu
