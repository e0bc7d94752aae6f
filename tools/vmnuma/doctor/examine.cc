// SPDX-License-Identifier: Apache-2.0
// `vmnuma doctor`: runs all checks of this host and prints the findings. Ends with kExitOk if
// nothing is worse than a note, else with kExitWarning or kExitBroken.
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

namespace {

void append_findings(std::vector<Finding>& findings, std::vector<Finding> more) {
  findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

}  // namespace

int DoctorRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  const auto directory = files::Directory::open(root);
  if (!directory) {
    return fail(invocation, surroundings, directory.error(), kExitUsage);
  }
  const auto status =
      ask_view<balancer::StatusView>(invocation, surroundings, balancer::StatusRequest{});
  std::vector<Finding> findings = check_daemon(status, VMNUMA_VERSION);
  if (!status && !invocation.sim) {
    append_findings(findings, check_socket(root, invocation.socket_path));
  }
  if (!status || !is_about_another_host(*status)) {
    const auto daemon = peer_of(invocation.socket_path, surroundings.time_limit);
    if (status) {
      findings.push_back(check_libvirt(*directory, *status));
    }
    findings.push_back(check_rights(*directory, daemon));
    append_findings(findings, check_host(*directory));
    append_findings(findings, check_start(*directory));
    append_findings(findings, check_pve(*directory, status, daemon));
    const auto host =
        ask_view<balancer::HostView>(invocation, surroundings, balancer::HostRequest{});
    append_findings(findings, check_interrupts(*directory, host));
    append_findings(findings, check_definitions(host));
  }
  const bool is_text = invocation.format == ListFormat::kTable;
  const int printed = print(invocation, surroundings,
                            invocation.json ? json_of(findings) + "\n"
                            : is_text       ? text_of(findings, surroundings.colours)
                                            : text_of(listing_of(findings), invocation.format));
  if (printed != kExitOk) {
    return printed;
  }
  switch (worst_of(findings)) {
    case Severity::kOk:
    case Severity::kNote:
      return kExitOk;
    case Severity::kWarning:
      return kExitWarning;
    case Severity::kError:
      break;
  }
  return kExitBroken;
}

}  // namespace vmnuma::tools
