// SPDX-License-Identifier: Apache-2.0
// `vmnuma doctor`: runs all checks of this host and prints the findings. Ends with kExitOk if
// nothing is worse than a note, else with kExitWarning or kExitBroken.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "stats/files/directory.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/doctor/daemon_checks.h"
#include "tools/vmnuma/doctor/device_checks.h"
#include "tools/vmnuma/doctor/host_checks.h"
#include "tools/vmnuma/doctor/libvirt_checks.h"
#include "tools/vmnuma/doctor/pve_checks.h"
#include "tools/vmnuma/doctor/start_checks.h"
#include "tools/vmnuma/doctor/vm_checks.h"
#include "tools/vmnuma/terminal/ask_view.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/surroundings.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

int DoctorRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  const auto directory = files::Directory::open(root);
  if (!directory) {
    return fail(invocation, surroundings, directory.error(), kExitUsage);
  }
  const auto error_of = [](Refusal refusal) { return std::move(refusal.error); };
  const auto status =
      ask_view<balancer::StatusView>(invocation, surroundings, balancer::StatusRequest{})
          .map_error(error_of);
  std::vector<Finding> findings = check_daemon(status, VMNUMA_VERSION);
  if (!status && !invocation.sim) {
    std::ranges::move(check_socket(root, invocation.socket_path), std::back_inserter(findings));
  }
  if (!status || !is_about_another_host(*status)) {
    const auto daemon = peer_of(invocation.socket_path, surroundings.time_limit);
    if (status) {
      findings.push_back(check_libvirt(*directory, *status));
    }
    findings.push_back(check_rights(*directory, daemon));
    std::ranges::move(check_host(*directory), std::back_inserter(findings));
    std::ranges::move(check_start(*directory), std::back_inserter(findings));
    std::ranges::move(check_pve(*directory, status, daemon), std::back_inserter(findings));
    const auto host =
        ask_view<balancer::HostView>(invocation, surroundings, balancer::HostRequest{})
            .map_error(error_of);
    std::ranges::move(check_interrupts(*directory, host), std::back_inserter(findings));
    std::ranges::move(check_definitions(host), std::back_inserter(findings));
  }
  const bool is_text = invocation.format == ListFormat::kTable;
  const int printed = print(invocation, surroundings,
                            invocation.json ? json_of(findings) + "\n"
                            : is_text       ? text_of(findings, surroundings.colours)
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
