// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/examine.h"

#include <iterator>
#include <utility>
#include <vector>

#include "balancer/protocol/response.h"
#include "stats/files/directory.h"
#include "tools/client/client.h"
#include "tools/vmnuma/doctor/daemon_checks.h"
#include "tools/vmnuma/doctor/device_checks.h"
#include "tools/vmnuma/doctor/host_checks.h"
#include "tools/vmnuma/doctor/start_checks.h"
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

int run_doctor(const Invocation& invocation, Surroundings& surroundings) {
  const auto root = files::Directory::open(invocation.doctor->root);
  if (!root) {
    surroundings.err << invocation.program << ": " << printable(root.error().message) << std::endl;
    return kExitUsage;
  }
  std::vector<Finding> findings = check_daemon(
      ask_for<balancer::StatusView>(balancer::StatusRequest{}, invocation, surroundings),
      VMNUMA_VERSION);
  findings.push_back(check_rights(*root, peer_of(invocation.socket_path, surroundings.time_limit)));
  append(findings, check_host(*root));
  append(findings, check_start(*root));
  append(findings, check_interrupts(*root, ask_for<balancer::HostView>(balancer::HostRequest{},
                                                                       invocation, surroundings)));
  surroundings.out << (invocation.json ? json_of(findings) + "\n"
                                       : text_of(findings, surroundings.colours))
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
