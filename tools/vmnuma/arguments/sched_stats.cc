// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/sched_stats.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "balancer/config/config.h"
#include "stats/reports/report.h"
#include "tools/vmnuma/arguments/command_syntax.h"

namespace vmnuma::tools {

namespace {

std::string help() {
  std::string text =
      "Usage: sched-stats -t TYPE [-g GROUP] [-l ID,ID] [-z COLUMN,COLUMN] [-q] [--socket PATH]\n"
      "  -t TYPE           print this table:\n";
  for (const std::string_view type : stats::report_types()) {
    text += fmt::format("                      {}\n", type);
  }
  return text +
         "  -g GROUP          only this VM, by its groupName or groupID\n"
         "  -l ID,ID          only these groupIDs, or nodes of numa-pnode and numa-latency\n"
         "  -z COLUMN,COLUMN  only these columns, in this order\n"
         "  -q                values separated by commas\n"
         "  -h                this help\n"
         "\n"
         "Examples:\n"
         "  sched-stats -t numa-clients        Show all clients of VMs\n"
         "  sched-stats -t numa-pnode -l 0 -q  Show node 0, separated by commas\n";
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
  invocation.shape.for_scripts = true;
  std::string type;
  CLI::App app;
  app.allow_extras();  // rejected below, with our own message
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("-t", type);
  app.add_option("-g", invocation.shape.group)->check(not_empty());
  app.add_option("--socket", invocation.socket_path);
  const CLI::Option* csv = app.add_flag("-q");
  const CLI::Option* reset = app.add_flag("-r");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw)->delimiter(',');
  const CLI::Option* ids = app.add_option("-l", invocation.shape.ids)->allow_extra_args(false);
  app.add_option("-z", invocation.shape.columns)->allow_extra_args(false);
  const auto no_numbers = [ids] {
    return usage(
        fmt::format("-l takes numbers such as '0,1', not '{}'", fmt::join(ids->results(), ",")));
  };
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return tl::unexpected(EarlyExit{kExitOk, help()});
  } catch (const CLI::ConversionError&) {
    return no_numbers();
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();  // "-t: 1 required TEXT missing"
    return usage(what.substr(0, what.find(':')) + " needs a value");
  } catch (const CLI::ParseError& error) {
    return usage(error.what());
  }
  const std::vector<std::string>& numbers = ids->results();
  if (std::find(numbers.begin(), numbers.end(), "") != numbers.end()) {  // which CLI11 takes as 0
    return no_numbers();
  }
  if (reset->count() > 0) {
    return usage(
        "-r is not supported: other programs rely on the counters; print the table twice and take "
        "the difference");
  }
  if (const std::vector<std::string> others = app.remaining(); !others.empty()) {
    return usage(fmt::format("'{}' is not supported", others.front()));
  }
  if (type.empty()) {
    return usage("a table is needed, such as '-t numa-pnode'");
  }
  if (csv->count() > 0) {
    invocation.shape.format = ListFormat::kCsv;
  }
  if (auto fits = check_shape(invocation.shape, type); !fits) {
    return usage(fits.error().message);
  }
  invocation.command = balancer::Command(balancer::StatsRequest{type});
  return invocation;
}

}  // namespace vmnuma::tools
