// SPDX-License-Identifier: Apache-2.0
// `vmnuma report`: gathers what the history and the daemon know, and prints it. Needs the history's
// file, but not the daemon: without it the page states what is missing.
#include <chrono>
#include <string>
#include <utility>

#include "stats/linux/host_name.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/commands/history_file.h"
#include "tools/vmnuma/report/host_report.h"
#include "tools/vmnuma/terminal/ask_view.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/surroundings.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

int ReportRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  HostReport report;
  report.since_unix_s = since_unix_s;
  report.until_unix_s = until_unix_s;
  const auto wall = [](std::int64_t unix_s) {
    return stats::WallTime(std::chrono::seconds(unix_s));
  };
  auto past = stats::read_past(history_file(history_path, invocation, surroundings),
                               wall(report.since_unix_s), wall(report.until_unix_s));
  if (!past) {
    return fail(invocation, surroundings, past.error(), kExitRefused);
  }
  report.past = std::move(*past);
  auto host = ask_view<balancer::HostView>(invocation, surroundings, balancer::HostRequest{});
  if (host) {
    report.host_name = host->host_name;
    report.host = std::move(*host);
  } else {
    report.host_name = stats::host_name();
    report.why_no_host = host.error().error.message;
  }
  return print(invocation, surroundings,
               html              ? report_html(report)
               : invocation.json ? report_json(report) + "\n"
                                 : report_text(report));
}

}  // namespace vmnuma::tools
