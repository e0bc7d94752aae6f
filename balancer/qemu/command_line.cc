// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/command_line.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace vmnuma::balancer::qemu {
namespace {

/// An option whose value is a list of settings, and the key of a first value without one.
struct ListOption {
  std::string_view name;
  std::string_view implied_key;
  std::string_view group;  ///< if it differs from the option's name
};
constexpr std::array kListOptions{
    ListOption{"name", "guest", ""},     ListOption{"smp", "cpus", ""},
    ListOption{"m", "size", ""},         ListOption{"machine", "type", ""},
    ListOption{"M", "type", "machine"},  ListOption{"object", "qom-type", ""},
    ListOption{"numa", "type", ""},      ListOption{"device", "driver", ""},
    ListOption{"drive", "", ""},         ListOption{"blockdev", "driver", ""},
    ListOption{"netdev", "type", ""},    ListOption{"nic", "type", "netdev"},
    ListOption{"net", "type", "netdev"}, ListOption{"chardev", "backend", ""},
    ListOption{"mon", "chardev", ""},    ListOption{"smbios", "", ""},
    ListOption{"overcommit", "", ""},    ListOption{"realtime", "", ""},
};

/// Options whose value is plain text. As a group they have the key "value".
constexpr std::array<std::string_view, 2> kTextOptions{"uuid", "mem-path"};
/// Disks by their legacy names.
constexpr std::array<std::string_view, 4> kDiskOptions{"hda", "hdb", "hdc", "hdd"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Takes the text up to the next zero, and removes it with the zero.
std::string_view take_argument(std::string_view& cmdline) {
  const std::string_view argument = cmdline.substr(0, cmdline.find('\0'));
  cmdline.remove_prefix(std::min(argument.size() + 1, cmdline.size()));
  return argument;
}

void add_list(const ListOption& option, std::string_view value, CommandLine& line) {
  OptionGroup group{std::string(option.group.empty() ? option.name : option.group), {}};
  if (!value.starts_with('{')) {
    group.settings = parse_settings(value, option.implied_key);
  } else if (auto settings = parse_json_settings(value)) {
    group.settings = std::move(*settings);
  } else {
    line.notes.push_back(fmt::format("-{} has a value that is not JSON", option.name));
    return;
  }
  line.options.push_back(std::move(group));
}

void add_option(std::string_view name, std::string_view value, CommandLine& line) {
  const auto* const list = std::ranges::find(kListOptions, name, &ListOption::name);
  if (list != kListOptions.end()) {
    add_list(*list, value, line);
  } else if (contains(kTextOptions, name)) {
    line.options.push_back({std::string(name), {{"value", std::string(value)}}});
  } else if (contains(kDiskOptions, name)) {
    line.options.push_back({"drive", {{"file", std::string(value)}}});
  } else if (name == "readconfig") {
    line.config_files.emplace_back(value);
  }
}

}  // namespace

std::optional<std::string_view> CommandLine::merged(std::string_view group,
                                                    std::string_view key) const {
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    if (option->name == group) {
      if (const auto found = option->value(key)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

bool is_qemu(std::string_view cmdline) {
  std::string_view program = take_argument(cmdline);
  program.remove_prefix(std::min(program.rfind('/') + 1, program.size()));
  return program.starts_with("qemu-system-") || program == "qemu-kvm" || program == "kvm";
}

CommandLine parse_command_line(std::string_view cmdline) {
  CommandLine line;
  (void)take_argument(cmdline);  // the program
  while (!cmdline.empty()) {
    std::string_view option = take_argument(cmdline);
    if (!option.starts_with('-')) {
      continue;
    }
    option.remove_prefix(option.starts_with("--") ? 2 : 1);
    const bool has_value = !cmdline.empty() && !cmdline.starts_with('-');
    add_option(option, has_value ? take_argument(cmdline) : std::string_view(), line);
  }
  return line;
}

void add_config_file(std::string_view text, std::string_view path, CommandLine& line) {
  ConfigFile file = parse_config_file(text);
  std::erase(line.config_files, path);
  if (file.not_understood > 0) {
    line.notes.push_back(
        fmt::format("{} lines of '{}' could not be interpreted", file.not_understood, path));
  }
  std::move(file.groups.begin(), file.groups.end(), std::back_inserter(line.options));
}

}  // namespace vmnuma::balancer::qemu
