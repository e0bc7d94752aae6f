// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/sched_stats.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "balancer/config/config.h"
#include "balancer/suggest.h"
#include "stats/reports/report.h"

namespace vmnuma::tools {

namespace {

std::string help() {
  std::string text =
      "Usage: sched-stats -t TYPE [--socket PATH]\n"
      "Prints one of the tables:\n";
  for (const std::string_view type : stats::report_types()) {
    text += fmt::format("  {}\n", type);
  }
  return text;
}

tl::unexpected<EarlyExit> usage(const std::string& problem) {
  return tl::unexpected(
      EarlyExit{kExitUsage, fmt::format("sched-stats: {}\nTry 'sched-stats -h'.\n", problem)});
}

}  // namespace

tl::expected<Invocation, EarlyExit> parse_sched_stats_arguments(
    std::span<const std::string> arguments) {
  Invocation invocation;
  invocation.program = "sched-stats";
  invocation.socket_path = balancer::kDefaultSocketPath;
  std::string type;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-h" || argument == "--help") {
      return tl::unexpected(EarlyExit{kExitOk, help()});
    }
    if (argument != "-t" && argument != "--socket") {
      return usage(fmt::format("'{}' is not supported", argument));
    }
    if (i + 1 == arguments.size()) {
      return usage(fmt::format("{} needs a value", argument));
    }
    (argument == "-t" ? type : invocation.socket_path) = arguments[++i];
  }
  if (type.empty()) {
    return usage("a table is needed, such as '-t numa-pnode'");
  }
  const auto& known = stats::report_types();
  if (std::find(known.begin(), known.end(), type) == known.end()) {
    return usage(
        fmt::format("there is no table '{}'{}", type, balancer::did_you_mean(type, known)));
  }
  invocation.command = balancer::StatsRequest{type};
  return invocation;
}

}  // namespace vmnuma::tools
