// SPDX-License-Identifier: Apache-2.0
/// Checks the daemon: its own report, and its privileges according to the kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "stats/files/directory.h"
#include "tools/client/client.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// `status` is the daemon's answer, or why there is none; `version` is this program's.
[[nodiscard]] std::vector<Finding> check_daemon(const Result<balancer::StatusView>& status,
                                                std::string_view version);

/// For a daemon that does not answer, checks whether its configuration file below `root` names
/// another socket than the one that was used.
[[nodiscard]] std::vector<Finding> check_socket(const std::string& root,
                                                const std::string& socket_path);

/// Checks the capabilities of the process that answers (proc(5), /proc/PID/status: CapEff;
/// linux/capability.h), not of any other vmnumad on the host.
[[nodiscard]] Finding check_rights(const files::Directory& root, const Result<Peer>& daemon);

}  // namespace vmnuma::tools
