// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/toml_problems.h"

#include <algorithm>

#include <fmt/format.h>

#include "balancer/config/keys.h"
#include "placement/model/options.h"

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

namespace {

std::string_view description_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::kText:
      return "a string";
    case KeyKind::kNumber:
      return "an integer";
    case KeyKind::kSwitch:
      return "true or false";
  }
  return "unknown";
}

void read_option(TomlProblems& problems, OptionValues& values, const std::string& name,
                 const toml::key& key, const toml::node& node) {
  const std::uint32_t line = key.source().begin.line;
  if (!node.is_integer() && find_option(name) != nullptr) {
    problems.add(line, fmt::format("'{}' is {}, but must be an integer", name, kind_of(node)));
    return;
  }
  const std::int64_t value = node.is_integer() ? node.as_integer()->get() : 0;
  Options scratch;
  if (auto set = set_option(scratch, name, value); !set) {
    problems.add(line, set.error().message + hint_of_top_key(name));
  } else if (!values.emplace(name, value).second) {
    problems.add(line, fmt::format("'{}' is given twice", name));
  }
}

}  // namespace

std::optional<std::string> value_text(TomlProblems& problems, std::string_view name, KeyKind kind,
                                      const toml::key& key, const toml::node& node) {
  if (kind == KeyKind::kText && node.is_string()) {
    return node.as_string()->get();
  }
  if (kind == KeyKind::kNumber && node.is_integer()) {
    return std::to_string(node.as_integer()->get());
  }
  if (kind == KeyKind::kSwitch && node.is_boolean()) {
    return node.as_boolean()->get() ? "true" : "false";
  }
  problems.add(key.source().begin.line, fmt::format("'{}' is {}, but must be {}", name,
                                                    kind_of(node), description_of(kind)));
  return std::nullopt;
}

void read_options(TomlProblems& problems, OptionValues& values, const toml::table& table) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (!node.is_table()) {
      read_option(problems, values, name, key, node);
      continue;
    }
    for (const auto& [inner_key, inner] : *node.as_table()) {
      read_option(problems, values, name + "." + std::string(inner_key.str()), inner_key, inner);
    }
  }
}

}  // namespace vmnuma::balancer
