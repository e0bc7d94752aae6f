// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/export/follow_export.h"

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "tools/vmnuma/export/export_text.h"
#include "tools/vmnuma/terminal/ask_view.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/watch.h"

namespace vmnuma::tools {

namespace {

/// Returns the host, once everything that the document needs is known about it.
tl::expected<balancer::HostView, Refusal> ask_host(const Invocation& invocation,
                                                   const Surroundings& surroundings) {
  auto host = ask_view<balancer::HostView>(invocation, surroundings, balancer::HostRequest{});
  if (host && (host->epoch == 0 || !host->vms_known)) {
    return tl::unexpected(
        Refusal{/*by_daemon=*/false,
                {ErrorCode::kBusy, 0,
                 host->epoch == 0 ? "the daemon has not measured an epoch yet"
                                  : "the daemon does not know yet which VMs run"}});
  }
  return host;
}

}  // namespace

int follow_export(const ExportRun& run, const Invocation& invocation, Surroundings& surroundings) {
  std::string printed;
  std::int64_t epoch_length_ms = 0;
  bool is_reader_gone = false;
  Polling polling{.seconds = run.follow_seconds, .waits_for_daemon = true};
  polling.epoch_length = [&] {
    return epoch_length_ms > 0 ? std::optional(std::chrono::milliseconds(epoch_length_ms))
                               : std::nullopt;
  };
  const int code =
      keep_asking(invocation, surroundings, polling, [&]() -> tl::expected<int, Refusal> {
        VMNUMA_ASSIGN_OR_RETURN(auto host, ask_host(invocation, surroundings));
        epoch_length_ms = host.epoch_length_ms;
        auto line = export_text(run, std::move(host), JsonLayout::kOneLine);
        if (!line) {
          return fail(invocation, surroundings, line.error(), kExitUsage);
        }
        if (*line == printed) {
          return kExitOk;
        }
        errno = 0;
        surroundings.out << *line << std::flush;
        is_reader_gone = !surroundings.out && errno == EPIPE;  // if SIGPIPE is ignored
        if (is_reader_gone) {
          return kExitRefused;
        }
        printed = std::move(*line);
        return print(invocation, surroundings, "");
      });
  return is_reader_gone ? kExitOk : code;
}

}  // namespace vmnuma::tools
