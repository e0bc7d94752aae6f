// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/toml_problems.h"

#include <algorithm>

#include <fmt/format.h>

namespace vmnuma::balancer {

Error TomlProblems::as_error() const {
  std::vector<std::pair<std::uint32_t, std::string>> sorted = problems_;
  std::ranges::stable_sort(sorted, {}, [](const auto& problem) { return problem.first; });
  Error error{ErrorCode::kInvalidArgument, 0, ""};
  for (const auto& [line, message] : sorted) {
    error.message +=
        fmt::format("{}{}:{}: {}", error.message.empty() ? "" : "\n", file_, line, message);
  }
  return error;
}

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::none:
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      break;
  }
  return "a date or time";
}

}  // namespace vmnuma::balancer
