// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/export/follow_export.h"

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "balancer/protocol/response.h"
#include "tools/client/client.h"
#include "tools/vmnuma/export/export_text.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

using std::chrono::milliseconds;

/// Used until the daemon has reported the length of its epochs.
constexpr milliseconds kUsualEpoch{2000};

/// The host, once everything in the document is known about it.
Result<balancer::HostView> ask_host(const Invocation& invocation,
                                    const Surroundings& surroundings) {
  auto answer = ask(invocation.socket_path, balancer::HostRequest{}, surroundings.time_limit);
  if (!answer) {
    return tl::unexpected(std::move(answer).error().error);
  }
  auto host = balancer::decode_view<balancer::HostView>(*answer);
  if (host && (host->epoch == 0 || !host->vms_known)) {
    return failure(ErrorCode::kBusy, host->epoch == 0
                                         ? "the daemon has not measured an epoch yet"
                                         : "the daemon does not know yet which VMs run");
  }
  return host;
}

}  // namespace

int follow_export(const ExportRun& run, const Invocation& invocation, Surroundings& surroundings) {
  const auto say = [&](const std::string& sentence) {
    surroundings.err << invocation.program << ": " << printable(sentence) << std::endl;
  };
  milliseconds period =
      run.follow_seconds > 0 ? std::chrono::seconds(run.follow_seconds) : kUsualEpoch;
  std::string printed;
  bool is_complaining = false;
  do {
    auto host = ask_host(invocation, surroundings);
    if (!host) {
      if (!is_complaining) {
        say(host.error().message + "; trying again");
      }
      is_complaining = true;
      continue;
    }
    is_complaining = false;
    if (run.follow_seconds == 0 && host->epoch_length_ms > 0) {
      period = milliseconds(host->epoch_length_ms);
    }
    auto line = export_text(run, std::move(*host), JsonLayout::kOneLine);
    if (!line) {
      say(line.error().message);
      return kExitUsage;
    }
    if (*line == printed) {
      continue;
    }
    errno = 0;
    surroundings.out << *line << std::flush;
    if (!surroundings.out) {
      if (errno == EPIPE) {  // where SIGPIPE is ignored
        return kExitOk;
      }
      say("cannot write to standard output");
      return kExitRefused;
    }
    printed = std::move(*line);
  } while (surroundings.pause(period));
  return kExitOk;
}

}  // namespace vmnuma::tools
