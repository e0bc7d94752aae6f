// SPDX-License-Identifier: Apache-2.0
/// QEMU's options, in whatever form they were written.
///
/// Problem: the same option reaches QEMU as "-object TYPE,id=a,size=1G", as JSON, or as a section
/// of a file (-readconfig); programs that start QEMU mix these forms. Approach: all are converted
/// to one form, a group with its settings in order (QEMU's QemuOpts, util/qemu-option.c and
/// util/qemu-config.c, 7.2; JSON for -object, -device, -blockdev and -netdev since 6.0). Terms:
/// *group*, one use of an option; *implied key*, the key of a first value without one ("-smp 4" is
/// cpus=4).
///
/// Properties:
///  - ",," is a comma in a value;
///  - a key without a value is "on";
///  - nested JSON gives keys with dots ("file.filename"), and lists have numbers as keys;
///  - any text gives groups or nothing, and bounded memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vmnuma::balancer::qemu {

struct Setting {
  std::string key;
  std::string value;
  bool operator==(const Setting&) const = default;
};

struct OptionGroup {
  std::string name;  ///< the option as on the command line, without dashes: "object", "smp"
  std::vector<Setting> settings;

  /// The last value of the key, which is the effective one in QEMU; nothing if there is none.
  [[nodiscard]] std::optional<std::string_view> value(std::string_view key) const;
  [[nodiscard]] bool is(std::string_view key, std::string_view wanted) const {
    return value(key) == wanted;
  }
  /// True for QEMU's true booleans: on, yes, true, y.
  [[nodiscard]] bool is_on(std::string_view key) const;
  /// The values of a list: "cpus" twice, or "cpus.0" and "cpus.1".
  [[nodiscard]] std::vector<std::string_view> values(std::string_view key) const;
};

/// Parses "node,nodeid=0,cpus=0-3", here with the implied key "type".
[[nodiscard]] std::vector<Setting> parse_settings(std::string_view text,
                                                  std::string_view implied_key);

/// Parses a JSON object. Nothing if `text` is not one, is larger than 1 MiB, or is nested deeper
/// than 32 levels.
[[nodiscard]] std::optional<std::vector<Setting>> parse_json_settings(std::string_view text);

/// Parses a file for -readconfig: sections [NAME] and [NAME "ID"], lines KEY = "VALUE", comments
/// with #. Sections are named after QEMU's lists and get their command line names here ("smp-opts"
/// is "smp"). Other lines are counted in `not_understood`.
struct ConfigFile {
  std::vector<OptionGroup> groups;
  int not_understood = 0;
};
[[nodiscard]] ConfigFile parse_config_file(std::string_view text);

}  // namespace vmnuma::balancer::qemu
