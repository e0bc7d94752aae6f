// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/daemon_checks.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "balancer/config/config.h"
#include "stats/linux/capabilities.h"
#include "stats/text/shell_word.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

namespace {

using balancer::StatusView;

Finding mode_finding(const StatusView& status) {
  const std::string what =
      fmt::format("vmnumad {} is in mode {}", status.version, name_of(status.mode));
  if (status.mode == balancer::Mode::kActive) {
    return {"daemon", Severity::kOk, what};
  }
  if (status.mode == balancer::Mode::kDegraded) {
    return {"daemon",
            Severity::kNote,
            what + ": something that it needs is missing",
            "To see what is missing, and what does not work without it:",
            {"vmnuma status"}};
  }
  if (status.mode == balancer::Mode::kPaused) {
    return {"daemon",
            Severity::kNote,
            what + ": VMs stay where they are",
            "To resume:",
            {"vmnuma resume"}};
  }
  return {"daemon",
          Severity::kNote,
          what + ": it changes no VM",
          "To let it act, set mode = \"active\" in /etc/vmnuma/vmnuma.toml, then:",
          {"systemctl reload vmnumad"}};
}

}  // namespace

std::vector<Finding> check_socket(const std::string& root, const std::string& socket_path) {
  const auto config = balancer::load_config(root + std::string(balancer::kDefaultConfigPath),
                                            balancer::FileIs::kOptional);
  if (!config || config->socket_path == socket_path) {
    return {};
  }
  return {
      {"socket",
       Severity::kNote,
       fmt::format("the daemon's configuration names another socket: '{}'", config->socket_path),
       "Ask the daemon there:",
       {"vmnuma --socket " + text::shell_word(config->socket_path) + " doctor"}}};
}

std::vector<Finding> check_daemon(const Result<StatusView>& status, std::string_view version) {
  if (!status) {
    const bool is_refused =
        status.error().code == ErrorCode::kPermissionDenied || status.error().errno_value == EACCES;
    return {{"daemon", Severity::kError, status.error().message,
             is_refused ? "Run vmnuma as root or as a member of the group vmnuma."
                        : "Start it, or see why it ended:",
             is_refused ? std::vector<std::string>{}
                        : std::vector<std::string>{"systemctl enable --now vmnumad",
                                                   "journalctl -u vmnumad"}}};
  }
  std::vector<Finding> findings = {mode_finding(*status)};
  if (is_about_another_host(*status)) {
    findings.push_back(
        {"host", Severity::kOk,
         fmt::format("the daemon's host is another one ({}), so this host is not checked",
                     status->uri)});
  }
  if (!status->nothing_to_balance.empty()) {
    findings.push_back({"balance", Severity::kOk, status->nothing_to_balance});
  }
  if (status->breaker_epochs_left > 0) {
    findings.push_back(
        {"balance",
         Severity::kWarning,
         fmt::format("too many moves in a row failed or did harm, so none are made for {} epochs",
                     status->breaker_epochs_left),
         "See what failed:",
         {"vmnuma events --level warning"}});
  }
  for (const std::string& notice : status->notices) {
    if (notice.starts_with("vmnumad lacks CAP_")) {
      continue;  // check_rights() says how to fix that; reading the configuration again would not
    }
    findings.push_back({"options",
                        Severity::kWarning,
                        notice,
                        "When that is fixed, reload the configuration:",
                        {"systemctl reload vmnumad"}});
  }
  for (const balancer::DegradedView& missing : status->degraded) {
    // The others have a check of their own (host_checks.h, libvirt_checks.h), with the fix.
    if (missing.source != "libvirt" && missing.source != "cgroup" &&
        missing.source != "schedstat" &&
        (is_about_another_host(*status) ||
         !missing.source.starts_with("/sys/devices/system/node"))) {
      findings.push_back({"daemon",
                          Severity::kError,
                          fmt::format("{} is missing: {}", missing.source, missing.reason),
                          "The journal has more:",
                          {"journalctl -u vmnumad"}});
    }
  }
  if (!status->history.state.starts_with("ok") &&
      std::none_of(status->degraded.begin(), status->degraded.end(),
                   [](const balancer::DegradedView& view) { return view.source == "history"; })) {
    findings.push_back({"history", Severity::kWarning,
                        fmt::format("{}: {}", status->history.path, status->history.state),
                        "Nothing is recorded until this is fixed."});
  }
  if (status->wants_wakeups && !status->wakeup_pairs) {
    findings.push_back({"wakeups",
                        Severity::kWarning,
                        "Numa.LocalityWeightActionAffinity is set, but nothing counts which VMs "
                        "wake each other, so only declared affinity groups have an effect",
                        "To have them counted (vmnuma-wakeups(8)):",
                        {"systemctl enable --now vmnuma-wakeups", "journalctl -u vmnuma-wakeups"}});
  }
  if (status->version != version) {
    findings.push_back(
        {"version",
         Severity::kWarning,
         fmt::format("the daemon is of version {}, this program of {}", status->version, version),
         "The daemon was not restarted after an update:",
         {"systemctl restart vmnumad"}});
  }
  return findings;
}

Finding check_rights(const files::Directory& root, const Result<Peer>& daemon) {
  const auto status = daemon.and_then(
      [&](const Peer& peer) { return root.read(fmt::format("proc/{}/status", peer.pid)); });
  if (!status) {
    return {"rights", Severity::kNote, "not checked: " + status.error().message};
  }
  const std::string who = fmt::format("vmnumad (pid {}, uid {})", daemon->pid, daemon->uid);
  const Result<std::string> missing = stats::lacking_capabilities(*status);
  if (!missing) {
    return {"rights", Severity::kWarning,
            fmt::format("the capabilities of {} cannot be read", who)};
  }
  if (!missing->empty()) {
    return {"rights",
            Severity::kError,
            fmt::format("{} lacks {}, which it needs to see where VMs' memory is and to move it",
                        who, *missing),
            "Its unit grants both (AmbientCapabilities=); look for a drop-in that does not:",
            {"systemctl cat vmnumad"}};
  }
  return {"rights", Severity::kOk, fmt::format("{} has CAP_SYS_PTRACE and CAP_SYS_NICE", who)};
}

}  // namespace vmnuma::tools
