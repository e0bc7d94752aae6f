// SPDX-License-Identifier: Apache-2.0
/// The problems of a TOML file, reported together, in the order of its lines, and the values that
/// more than one kind of file has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "balancer/config/parse.h"
#include "balancer/policy/key.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

class TomlProblems {
 public:
  explicit TomlProblems(std::string_view file) : file_(file) {}

  void add(std::uint32_t line, std::string message) {
    problems_.emplace_back(line, std::move(message));
  }
  [[nodiscard]] bool empty() const { return problems_.empty(); }
  /// The problems as one error, invalid-argument: "FILE:LINE: message", one line per problem.
  [[nodiscard]] Error as_error() const;

 private:
  std::string file_;
  std::vector<std::pair<std::uint32_t, std::string>> problems_;
};

/// The type of a value, for messages: "an integer", "a table".
[[nodiscard]] std::string_view kind_of(const toml::node& node);

/// Returns the value of a key as text; nothing, with a problem noted, if it is not of that kind.
[[nodiscard]] std::optional<std::string> value_text(TomlProblems& problems, std::string_view name,
                                                    KeyKind kind, const toml::key& key,
                                                    const toml::node& node);

/// Sets the row's key in `target` from `node`. False, with a problem noted, if that is impossible.
template <class Target>
bool read_key(TomlProblems& problems, Target& target, const KeyInfo<Target>& row,
              const toml::key& key, const toml::node& node) {
  const auto text = value_text(problems, row.name, row.kind, key, node);
  if (!text) {
    return false;
  }
  if (auto set = row.set(target, *text); !set) {
    problems.add(key.source().begin.line, "'" + std::string(row.name) + "' " + set.error().message);
    return false;
  }
  return true;
}

/// Reads `[options]`. TOML reads an unquoted `Numa.X = 1` as a table `Numa` that contains `X`; both
/// forms are accepted.
void read_options(TomlProblems& problems, OptionValues& values, const toml::table& table);

}  // namespace vmnuma::balancer
