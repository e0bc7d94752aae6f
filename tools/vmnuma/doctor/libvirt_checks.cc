// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/libvirt_checks.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace vmnuma::tools {

namespace {

using files::Directory;

constexpr std::string_view kWhole = "libvirtd";
constexpr std::string_view kModular = "virtqemud";
constexpr std::string_view kWholeSocket = "/run/libvirt/libvirt-sock";
constexpr std::string_view kModularSocket = "/run/libvirt/virtqemud-sock";

LibvirtDaemon whole() {
  return {kWhole, std::string(kWholeSocket)};
}
LibvirtDaemon modular() {
  return {kModular, std::string(kModularSocket)};
}

bool exists(const Directory& root, std::string_view path) {
  std::error_code problem;
  return std::filesystem::exists(root.path_of(path.substr(1)), problem);
}

/// Returns the part of `uri` after "NAME=", up to the next '&' or blank; empty if there is none.
std::string_view parameter(std::string_view uri, std::string_view name) {
  const std::size_t at = uri.find(name);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view value = uri.substr(at + name.size());
  return value.substr(0, value.find_first_of("& "));
}

/// Returns the systemd socket of the daemon whose units are installed.
std::string_view unit_of(const Directory& root) {
  return exists(root, "/usr/lib/systemd/system/virtqemud.socket") ? kModular : kWhole;
}

/// Returns whether a process listens on the socket (proc(5), /proc/net/unix).
bool is_listened_on(const Directory& root, std::string_view socket) {
  // "ffff888102e64c00: 00000002 00000000 00010000 0001 01 21413 /run/libvirt/libvirt-sock", where
  // 00010000 is __SO_ACCEPTCON (Linux 6.1, net/unix/af_unix.c, unix_seq_show).
  std::istringstream lines(root.read("proc/net/unix").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string flags;
    std::string path;
    std::string passed;
    words >> passed >> passed >> passed >> flags >> passed >> passed >> passed >> path;
    if (flags == "00010000" && (path == socket || path == fmt::format("/var{}", socket))) {
      return true;
    }
  }
  return false;
}

Finding unreachable(const Directory& root, const LibvirtDaemon& daemon,
                    const balancer::StatusView& status, std::string_view reason) {
  std::string what = fmt::format("the daemon does not reach {}: {}", status.uri, reason);
  if (is_listened_on(root, daemon.socket)) {
    return {"libvirt",
            Severity::kError,
            std::move(what),
            fmt::format("Check whether {} works, and whether polkit allows the user vmnuma to "
                        "connect (rule 50-vmnuma.rules):",
                        daemon.name),
            {fmt::format("systemctl status {}", daemon.name), "journalctl -u vmnumad -u polkit"}};
  }
  const LibvirtDaemon other = daemon.name == kModular ? whole() : modular();
  if (exists(root, daemon.socket) && is_listened_on(root, other.socket)) {
    return {"libvirt",
            Severity::kError,
            fmt::format("{}; no program listens on {}, but libvirt's programs use that socket "
                        "because it exists, although {} runs",
                        what, daemon.socket, other.name),
            "Remove the stale socket:",
            {fmt::format("rm {}", daemon.socket)}};
  }
  return {"libvirt",
          Severity::kError,
          fmt::format("{}; no program listens on {}", what, daemon.socket),
          "Start libvirt through its socket:",
          {fmt::format("systemctl enable --now {}.socket", unit_of(root))}};
}

}  // namespace

LibvirtDaemon libvirt_daemon_of(const Directory& root, std::string_view uri) {
  if (const std::string_view socket = parameter(uri, "socket="); !socket.empty()) {
    return {socket.find("virtqemud") != std::string_view::npos ? kModular : kWhole,
            std::string(socket)};
  }
  const std::string_view mode = parameter(uri, "mode=");
  if (mode == "direct" || (mode != "legacy" && exists(root, kModularSocket))) {
    return modular();
  }
  return whole();
}

Finding check_libvirt(const Directory& root, const balancer::StatusView& status) {
  if (!status.uri.starts_with("qemu")) {  // VMs without libvirt, or libvirt's test driver
    return {"libvirt", Severity::kOk, "the daemon reaches " + status.uri};
  }
  const LibvirtDaemon daemon = libvirt_daemon_of(root, status.uri);
  const auto missing =
      std::find_if(status.degraded.begin(), status.degraded.end(),
                   [](const balancer::DegradedView& view) { return view.source == "libvirt"; });
  if (missing != status.degraded.end()) {
    return unreachable(root, daemon, status, missing->reason);
  }
  if (is_listened_on(root, kWholeSocket) && is_listened_on(root, kModularSocket)) {
    return {"libvirt",
            Severity::kWarning,
            fmt::format("the daemon reaches {} ({}), but libvirtd and virtqemud both listen: only "
                        "one of them can manage QEMU's VMs",
                        status.uri, daemon.name),
            "If libvirt was switched to the modular daemons, disable the other one:",
            {"systemctl disable --now libvirtd.socket libvirtd-ro.socket libvirtd-admin.socket "
             "libvirtd.service"}};
  }
  return {"libvirt", Severity::kOk,
          fmt::format("the daemon reaches {} ({})", status.uri, daemon.name)};
}

}  // namespace vmnuma::tools
