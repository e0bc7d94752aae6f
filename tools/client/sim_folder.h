// SPDX-License-Identifier: Apache-2.0
/// The folder with the socket and the state of a daemon on a simulated host (`vmnumad --simulate`).
///
/// One per user, so that users need no privileges and do not get in each other's way.
#pragma once

#include <string>

#include <sys/types.h>

namespace vmnuma::tools {

/// Returns `runtime_dir`/vmnuma-sim, or /tmp/vmnuma-sim-UID if that is null or not absolute, as the
/// XDG base directory specification requires.
[[nodiscard]] std::string sim_folder(const char* runtime_dir, uid_t uid);

/// Likewise, for this process's environment and user.
[[nodiscard]] std::string sim_folder();

/// Returns the control socket in this folder.
[[nodiscard]] std::string sim_socket(const std::string& folder);

}  // namespace vmnuma::tools
