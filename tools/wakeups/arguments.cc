// SPDX-License-Identifier: Apache-2.0
#include "tools/wakeups/arguments.h"

#include <sstream>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "stats/linux/wakeup_counts.h"
#include "tools/client/unknown_option.h"

namespace vmnuma::tools {

tl::expected<WakeupsArguments, WakeupsExit> parse_wakeups_arguments(
    std::span<const std::string> arguments) {
  CLI::App app{"Counts how often threads of two VMs wake each other, for the NUMA balancer.",
               "vmnuma-wakeups"};
  WakeupsArguments read;
  read.pid_dir = "/run/libvirt/qemu";
  read.output = fmt::format("/{}", stats::kWakeupCountsFile);
  std::int64_t period_ms = 2000;
  app.add_option("--pid-dir", read.pid_dir, "Where libvirt's pid files of VMs are")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--output", read.output, "The file that counts are written to")
      ->type_name("PATH")
      ->capture_default_str();
  app.add_option("--period", period_ms, "How often, in milliseconds, 10 to 60000")
      ->type_name("MS")
      ->check(CLI::Range(std::int64_t{10}, stats::kMostWakeupsPeriod.value / 1000).description(""))
      ->capture_default_str();
  app.set_version_flag("--version", "vmnuma-wakeups " VMNUMA_VERSION, "Print the version");
  // CLI11 takes arguments from the end of the vector.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::Success& asked_for) {
    std::ostringstream out;
    (void)app.exit(asked_for, out, out);  // the exit code is that of success
    return tl::unexpected(WakeupsExit{kWakeupsOk, out.str()});
  } catch (const CLI::ParseError& error) {
    return tl::unexpected(WakeupsExit{
        kWakeupsUsage,
        fmt::format("vmnuma-wakeups: {}\nTry 'vmnuma-wakeups --help'.\n", problem_of(app, error))});
  }
  read.period = std::chrono::milliseconds(period_ms);
  return read;
}

}  // namespace vmnuma::tools
