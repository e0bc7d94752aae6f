// SPDX-License-Identifier: Apache-2.0
// `vmnuma export`: prints the daemon's host in the format of a cluster scheduler, or this host,
// only from its files, for `vmnuma advise --host`.
//
// With --follow it prints a line for every state of the host that differs from the previous one.
// Problem: a script that applies the document to a cluster should do so only when something
// changed, and should survive restarts of the daemon. Approach: ask as often as the daemon
// measures, or as requested, and print the document if it differs from the last one.
//
// Properties of --follow:
//  - equal documents are printed once;
//  - while there is no answer, and until a new daemon has measured an epoch and knows the VMs,
//    nothing is printed, and this is reported once;
//  - if the reader ends, or on a signal to stop, the program ends normally.
#include <cerrno>
#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "stats/linux/host_name.h"
#include "tools/vmnuma/advise/host_file.h"
#include "tools/vmnuma/commands/host_config.h"
#include "tools/vmnuma/export/export_text.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/terminal/watch.h"

namespace vmnuma::tools {

namespace {

OrFailure<int> export_this_host(const ExportRun& run, const Context& context) {
  if (run.follow || context.invocation.watch) {
    return wrong_usage("a host is exported once; --watch and --follow are for the other formats");
  }
  if (context.invocation.sim) {
    return wrong_usage("the host format describes this host, not the simulated one; omit --sim");
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto config,
                          read_host_config(run.root, context).map_error(usage_failure));
  VMNUMA_ASSIGN_OR_RETURN(auto host, read_advice_host(run.root));
  host.prefer_ht = config.options.prefer_ht != 0;
  return context.print(host_file_text(host, run.name.value_or(stats::host_name()),
                                      context.invocation.json ? -1 : 2));
}

/// Returns the host, once everything that the document needs is known about it.
OrFailure<balancer::HostView> ask_host(const Context& context) {
  auto host = context.ask(balancer::HostRequest{});
  if (host && (host->epoch == 0 || !host->vms_known)) {
    return failure(ErrorCode::kBusy, host->epoch == 0
                                         ? "the daemon has not measured an epoch yet"
                                         : "the daemon does not know yet which VMs run");
  }
  return host;
}

OrFailure<int> follow_export(const ExportRun& run, const Context& context) {
  std::ostream& out = context.surroundings.out;
  std::string printed;
  std::int64_t epoch_length_ms = 0;
  bool is_reader_gone = false;
  Polling polling{.seconds = run.follow_seconds, .waits_for_daemon = true};
  polling.epoch_length = [&] {
    return epoch_length_ms > 0 ? std::optional(std::chrono::milliseconds(epoch_length_ms))
                               : std::nullopt;
  };
  const auto ended = keep_asking(context, polling, [&]() -> OrFailure<int> {
    VMNUMA_ASSIGN_OR_RETURN(auto host, ask_host(context));
    epoch_length_ms = host.epoch_length_ms;
    VMNUMA_ASSIGN_OR_RETURN(
        auto line,
        export_text(run, std::move(host), JsonLayout::kOneLine).map_error(usage_failure));
    if (line == printed) {
      return kExitOk;
    }
    errno = 0;
    out << line << std::flush;
    is_reader_gone = !out && errno == EPIPE;  // if SIGPIPE is ignored
    if (is_reader_gone) {
      return kExitRefused;
    }
    printed = std::move(line);
    return context.print("");
  });
  return is_reader_gone ? kExitOk : ended;
}

}  // namespace

OrFailure<int> ExportRun::run(const Context& context) const {
  if (format == ExportFormat::kHost) {
    return export_this_host(*this, context);
  }
  if (follow) {
    return follow_export(*this, context);
  }
  return show(context, [&]() -> OrFailure<std::string> {
    VMNUMA_ASSIGN_OR_RETURN(auto host, context.ask(balancer::HostRequest{}));
    return export_text(*this, std::move(host),
                       context.invocation.json ? JsonLayout::kOneLine : JsonLayout::kIndented)
        .map_error(usage_failure);
  });
}

}  // namespace vmnuma::tools
