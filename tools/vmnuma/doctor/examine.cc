// SPDX-License-Identifier: Apache-2.0
// `vmnuma doctor`: runs all checks of this host and prints the findings. Ends with kExitOk if
// nothing is worse than a note, else with kExitWarning or kExitBroken.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/daemon_checks.h"
#include "tools/vmnuma/doctor/device_checks.h"
#include "tools/vmnuma/doctor/host_checks.h"
#include "tools/vmnuma/doctor/libvirt_checks.h"
#include "tools/vmnuma/doctor/pve_checks.h"
#include "tools/vmnuma/doctor/start_checks.h"
#include "tools/vmnuma/doctor/vm_checks.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

OrFailure<int> DoctorRun::run(const Context& context) const {
  const Invocation& invocation = context.invocation;
  VMNUMA_ASSIGN_OR_RETURN(const auto directory,
                          files::Directory::open(root).map_error(usage_failure));
  const auto error_of = [](Failure failure) { return std::move(failure.error); };
  const auto status = context.ask(balancer::StatusRequest{}).map_error(error_of);
  std::vector<Finding> findings = check_daemon(status, VMNUMA_VERSION);
  const auto add = [&](std::vector<Finding> more) {
    std::ranges::move(more, std::back_inserter(findings));
  };
  if (!status && !invocation.sim) {
    add(check_socket(root, invocation.socket_path));
  }
  if (!status || !is_about_another_host(*status)) {
    const auto daemon = peer_of(invocation.socket_path, context.surroundings.time_limit);
    if (status) {
      findings.push_back(check_libvirt(directory, *status));
    }
    findings.push_back(check_rights(directory, daemon));
    add(check_host(directory));
    add(check_start(directory));
    add(check_pve(directory, status, daemon));
    const auto host = context.ask(balancer::HostRequest{}).map_error(error_of);
    add(check_interrupts(directory, host));
    add(check_definitions(host));
  }
  const bool is_text = invocation.format == ListFormat::kTable;
  const int printed = context.print(invocation.json ? json_of(findings) + "\n"
                                    : is_text ? text_of(findings, context.surroundings.colours)
                                              : text_of(listing_of(findings), invocation.format));
  if (printed != kExitOk) {
    return printed;
  }
  const Severity worst = worst_of(findings);
  return worst < Severity::kWarning    ? kExitOk
         : worst == Severity::kWarning ? kExitWarning
                                       : kExitBroken;
}

}  // namespace vmnuma::tools
