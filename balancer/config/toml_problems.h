// SPDX-License-Identifier: Apache-2.0
/// The problems of a TOML file, reported together, in the order of its lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

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

}  // namespace vmnuma::balancer
