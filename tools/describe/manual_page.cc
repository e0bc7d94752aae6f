// SPDX-License-Identifier: Apache-2.0
#include "tools/describe/manual_page.h"

#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "balancer/config/keys.h"
#include "balancer/policy/policy_keys.h"
#include "placement/model/options.h"
#include "tools/describe/template.h"
#include "tools/exporter/metric_table.h"
#include "tools/vmnuma/arguments/examples.h"

namespace vmnuma::tools {

namespace {

/// Describes one setting: its name and default, followed by its meaning and allowed values.
std::string setting(std::string_view name, std::string_view value, std::string_view help,
                    std::string_view allowed) {
  return fmt::format("*{}* = {}\n\t{}. Allowed: {}.\n\n", escaped(name), escaped(value),
                     escaped(help), escaped(allowed));
}

template <class Target>
std::string keys_section(std::span<const balancer::KeyInfo<Target>> keys) {
  std::string out;
  for (const auto& key : keys) {
    const std::string text = key.get(Target{});
    out += setting(key.name, key.kind == balancer::KeyKind::kText ? "\"" + text + "\"" : text,
                   key.help, key.allowed);
  }
  return out;
}

std::string options_section(bool from_esxi) {
  std::string out;
  for (const auto& option : option_table()) {
    if (option.from_esxi == from_esxi) {
      out += setting(fmt::format("\"{}\"", option.name), std::to_string(Options{}.*option.value),
                     option.help,
                     fmt::format("{} to {}{}{}", option.smallest, option.largest,
                                 option.unit.empty() ? "" : " ", option.unit));
    }
  }
  return out;
}

std::string metrics_section() {
  std::string out;
  for (const MetricInfo& metric : metric_table()) {
    const std::string labels = labels_text(metric);
    out += fmt::format("*{}*{}\n\t{}\n\n", escaped(metric.name),
                       labels.empty() ? "" : fmt::format(" ({})", escaped(labels)),
                       escaped(metric.help));
  }
  return out;
}

/// Returns the examples in the help of the command and of the commands in its group; empty if there
/// are none.
std::string examples_of(std::string_view command) {
  std::string out;
  for (const Example& example : kExamples) {
    if (example.command == command || example.command.starts_with(fmt::format("{} ", command))) {
      out += fmt::format("*{}*\n\t{}\n\n", escaped(example.line), escaped(example.what));
    }
  }
  return out;
}

/// Returns the section for these commands, for example "make-room reserve", in this order.
std::optional<std::string> examples_section(std::string_view commands) {
  std::istringstream words{std::string(commands)};
  std::string out;
  for (std::string command; words >> command;) {
    const std::string examples = examples_of(command);
    if (examples.empty()) {
      return std::nullopt;
    }
    out += examples;
  }
  return out;
}

std::optional<std::string> section(std::string_view name) {
  constexpr std::string_view kExamplesOf = "@examples ";
  if (name.starts_with(kExamplesOf) && name.ends_with('@')) {
    return examples_section(name.substr(kExamplesOf.size(), name.size() - kExamplesOf.size() - 1));
  }
  if (name == "@keys@") {
    return keys_section(balancer::top_keys());
  }
  if (name == "@metrics@") {
    return metrics_section();
  }
  if (name == "@history@") {
    return keys_section(balancer::history_keys());
  }
  if (name == "@policy@") {
    return keys_section(balancer::policy_keys());
  }
  if (name == "@options-esxi@") {
    return options_section(/*from_esxi=*/true);
  }
  if (name == "@options-own@") {
    return options_section(/*from_esxi=*/false);
  }
  return std::nullopt;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    // scdoc(5): emphasis, escapes, line breaks, and the first characters of headings, lists, tables
    // and comments.
    if (std::string_view("*_\\+#-|[];<>`~").find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

Result<std::string> fill_page(std::string_view page) {
  return fill_template(page, section);
}

}  // namespace vmnuma::tools
