// SPDX-License-Identifier: Apache-2.0
/// Splits a QEMU process's command line.
///
/// Problem: QEMU has hundreds of options, and the kernel keeps them as bytes separated by zeros.
/// Approach: an argument that begins with a dash is an option, and the next one is its value unless
/// it begins with a dash, too; options that concern a VM's placement become groups
/// (option_group.h), all others are ignored.
///
/// Properties:
///  - one dash and two are equivalent;
///  - no text makes it fail; a relevant option that cannot be read is named in `notes`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "balancer/qemu/option_group.h"

namespace vmnuma::balancer::qemu {

struct CommandLine {
  std::vector<OptionGroup> options;
  std::vector<std::string> config_files;  ///< from -readconfig, not added yet
  std::vector<std::string> notes;         ///< what was not understood, as sentences

  /// The last value of the key in these groups, as QEMU merges them ("-smp", "-m", "-machine").
  [[nodiscard]] std::optional<std::string_view> merged(std::string_view group,
                                                       std::string_view key) const;
};

/// True for the command line of a system emulator: programs called qemu-system-ARCH, qemu-kvm or
/// kvm, in any folder. `cmdline` is /proc/PID/cmdline (proc(5)).
[[nodiscard]] bool is_qemu(std::string_view cmdline);

[[nodiscard]] CommandLine parse_command_line(std::string_view cmdline);

/// Adds the contents of a file in `config_files`, and removes it from that list.
void add_config_file(std::string_view text, std::string_view path, CommandLine& line);

}  // namespace vmnuma::balancer::qemu
