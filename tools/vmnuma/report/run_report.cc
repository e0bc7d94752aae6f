// SPDX-License-Identifier: Apache-2.0
// `vmnuma report`: gathers what the history and the daemon know, and prints it. Needs the history's
// file, but not the daemon: without it the page states what is missing.
#include <chrono>
#include <utility>

#include "stats/linux/host_name.h"
#include "tools/vmnuma/commands/history_file.h"
#include "tools/vmnuma/report/host_report.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

OrFailure<int> ReportRun::run(const Context& context) const {
  if (html && context.invocation.json) {
    return wrong_usage("--html and --json exclude each other");
  }
  HostReport report;
  report.since_unix_s = since_unix_s;
  report.until_unix_s = until_unix_s;
  const auto wall = [](std::int64_t unix_s) {
    return stats::WallTime(std::chrono::seconds(unix_s));
  };
  VMNUMA_ASSIGN_OR_RETURN(
      report.past, stats::read_past(history_file(history_path, context), wall(report.since_unix_s),
                                    wall(report.until_unix_s)));
  auto host = context.ask(balancer::HostRequest{});
  if (host) {
    report.host_name = host->host_name;
    report.host = std::move(*host);
  } else {
    report.host_name = stats::host_name();
    report.why_no_host = host.error().error.message;
  }
  return context.print(html                      ? report_html(report)
                       : context.invocation.json ? report_json(report) + "\n"
                                                 : report_text(report));
}

}  // namespace vmnuma::tools
