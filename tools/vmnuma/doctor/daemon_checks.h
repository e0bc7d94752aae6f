// SPDX-License-Identifier: Apache-2.0
/// The state of the daemon: by its own report, and by what the kernel says about its rights.
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

/// `status` is its answer, or why there is none; `version` is this program's.
[[nodiscard]] std::vector<Finding> check_daemon(const Result<balancer::StatusView>& status,
                                                std::string_view version);

/// For a daemon that does not answer: whether its configuration file below `root` names another
/// socket than the one that was asked.
[[nodiscard]] std::vector<Finding> check_socket(const std::string& root,
                                                const std::string& socket_path);

/// The capabilities of the process that answers (proc(5), /proc/PID/status: CapEff;
/// linux/capability.h), and of no other vmnumad on the host.
[[nodiscard]] Finding check_rights(const files::Directory& root, const Result<Peer>& daemon);

}  // namespace vmnuma::tools
