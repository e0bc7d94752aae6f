// SPDX-License-Identifier: Apache-2.0
/// Where a daemon on a simulated host (`vmnumad --simulate`) has its socket and its state.
///
/// One for each user, so that nobody needs rights and nobody gets in another's way.
#pragma once

#include <string>

#include <sys/types.h>

namespace vmnuma::tools {

/// `runtime_dir`/vmnuma-sim, or /tmp/vmnuma-sim-UID if that is null or not absolute, as XDG's base
/// directory specification wants it.
[[nodiscard]] std::string sim_folder(const char* runtime_dir, uid_t uid);

/// This process's.
[[nodiscard]] std::string sim_folder();

/// The control socket there.
[[nodiscard]] std::string sim_socket(const std::string& folder);

}  // namespace vmnuma::tools
