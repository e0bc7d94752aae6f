// SPDX-License-Identifier: Apache-2.0
/// Checks which of libvirt's daemons manages the VMs, and whether it can be reached. `root` is the
/// host's root directory.
///
/// libvirt is either one daemon, libvirtd, or modular, in which case virtqemud manages QEMU's VMs;
/// virtnetworkd and the others are not needed here. systemd starts either one by its socket, and
/// both end after two idle minutes (libvirt 9.0 and 11.3, src/remote/libvirtd.service.in and
/// src/qemu/virtqemud.service.in), so the socket matters, not the process.
#pragma once

#include <string>
#include <string_view>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

struct LibvirtDaemon {
  std::string_view name;  ///< "libvirtd" or "virtqemud"
  std::string socket;     ///< "/run/libvirt/libvirt-sock"
};

/// Returns the daemon to which `uri` leads: the one whose socket or mode it names, else virtqemud
/// if its socket exists, whether or not it is running (libvirt 9.0, src/remote/remote_sockets.c,
/// remoteGetUNIXSocket).
[[nodiscard]] LibvirtDaemon libvirt_daemon_of(const files::Directory& root, std::string_view uri);

/// `status` is the answer of the daemon that balances this host.
[[nodiscard]] Finding check_libvirt(const files::Directory& root,
                                    const balancer::StatusView& status);

}  // namespace vmnuma::tools
