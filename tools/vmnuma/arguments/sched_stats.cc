// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/sched_stats.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/config/config.h"
#include "stats/reports/report.h"

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
         "  -l ID,ID          only these groupIDs; of numa-pnode, only these nodes\n"
         "  -z COLUMN,COLUMN  only these columns, in this order\n"
         "  -q                values separated by commas\n"
         "  -h                this help\n";
}

/// The parts between commas; an empty text has one, which is empty.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

Result<std::vector<std::int64_t>> numbers_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : parts_of(text)) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc{} || end != part.data() + part.size()) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("-l takes numbers such as '0,1', not '{}'", text));
    }
    numbers.push_back(number);
  }
  return numbers;
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
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-h" || argument == "--help") {
      return tl::unexpected(EarlyExit{kExitOk, help()});
    }
    if (argument == "-q") {
      invocation.shape.csv = true;
      continue;
    }
    if (argument == "-r") {
      return usage(
          "-r is not supported: others count on what was counted; print the table twice "
          "and take the difference");
    }
    const std::vector<std::string_view> with_value{"-t", "-g", "-l", "-z", "--socket"};
    if (std::find(with_value.begin(), with_value.end(), argument) == with_value.end()) {
      return usage(fmt::format("'{}' is not supported", argument));
    }
    if (i + 1 == arguments.size()) {
      return usage(fmt::format("{} needs a value", argument));
    }
    const std::string& value = arguments[++i];
    if (argument == "-t") {
      type = value;
    } else if (argument == "-g") {
      invocation.shape.group = value;
    } else if (argument == "-z") {
      invocation.shape.columns = parts_of(value);
    } else if (argument == "--socket") {
      invocation.socket_path = value;
    } else {
      auto numbers = numbers_of(value);
      if (!numbers) {
        return usage(numbers.error().message);
      }
      invocation.shape.ids = std::move(*numbers);
    }
  }
  if (type.empty()) {
    return usage("a table is needed, such as '-t numa-pnode'");
  }
  if (auto fits = check_shape(invocation.shape, type); !fits) {
    return usage(fits.error().message);
  }
  invocation.command = balancer::Command(balancer::StatsRequest{type});
  return invocation;
}

}  // namespace vmnuma::tools
