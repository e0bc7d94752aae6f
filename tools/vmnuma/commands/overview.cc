// SPDX-License-Identifier: Apache-2.0
// `vmnuma` alone: prints the state of the host on one line, and the most useful commands.
#include <string>

#include <fmt/format.h>

#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

constexpr std::string_view kCommands = R"(
  vmnuma top              nodes and VMs on a full screen
  vmnuma list             the VMs, where they live and how they run
  vmnuma explain VM       why a VM is where it is
  vmnuma plan             what the last epoch decided, and what it rejected
  vmnuma history          past moves, with their predicted and measured savings
  vmnuma doctor           what is wrong on this host, and how to fix it

'vmnuma --help' lists all commands, 'vmnuma help COMMAND' explains one.
)";

std::string status_line(const balancer::StatusView& status) {
  std::string line = fmt::format("mode {}, epoch {}, nodes {}, VMs {}", name_of(status.mode),
                                 status.epoch, status.nodes, figure_text(status.vms));
  if (!status.degraded.empty()) {
    line += fmt::format("; {} source{} missing, see 'vmnuma status'", status.degraded.size(),
                        status.degraded.size() == 1 ? " is" : "s are");
  }
  return line;
}

}  // namespace

OrFailure<int> OverviewRun::run(const Context& context) const {
  const auto status = context.ask(balancer::StatusRequest{});
  const int printed =
      context.print((status ? status_line(*status) : printable(status.error().error.message)) +
                    "\n" + std::string(kCommands));
  return status ? printed : kExitUnreachable;
}

}  // namespace vmnuma::tools
