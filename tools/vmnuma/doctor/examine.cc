// SPDX-License-Identifier: Apache-2.0
// `vmnuma doctor`: runs all checks of this host and prints the findings. Ends with kExitOk if
// nothing is worse than a note, else with kExitWarning or kExitBroken.
#include <iterator>
#include <utility>
#include <vector>

#include "balancer/protocol/response.h"
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
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/surroundings.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

template <class View>
Result<View> ask_for(balancer::Command command, const Invocation& invocation,
                     const Surroundings& surroundings) {
  const auto result = ask(invocation.socket_path, std::move(command), surroundings.time_limit);
  if (!result) {
    return tl::unexpected(result.error().error);
  }
  return balancer::decode_view<View>(*result);
}

void append(std::vector<Finding>& findings, std::vector<Finding> more) {
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
      ask_for<balancer::StatusView>(balancer::StatusRequest{}, invocation, surroundings);
  std::vector<Finding> findings = check_daemon(status, VMNUMA_VERSION);
  if (!status || !is_about_another_host(*status)) {
    const auto daemon = peer_of(invocation.socket_path, surroundings.time_limit);
    if (status) {
      findings.push_back(check_libvirt(*directory, *status));
    }
    findings.push_back(check_rights(*directory, daemon));
    append(findings, check_host(*directory));
    append(findings, check_start(*directory));
    append(findings, check_pve(*directory, status, daemon));
    const auto host =
        ask_for<balancer::HostView>(balancer::HostRequest{}, invocation, surroundings);
    append(findings, check_interrupts(*directory, host));
    append(findings, check_definitions(host));
  }
  const bool is_text = invocation.format == ListFormat::kTable;
  surroundings.out << (invocation.json ? json_of(findings) + "\n"
                       : is_text       ? text_of(findings, surroundings.colours)
                                       : text_of(listing_of(findings), invocation.format))
                   << std::flush;
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
