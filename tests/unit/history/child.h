// SPDX-License-Identifier: Apache-2.0
/// Work in a process of its own: to be killed, without rights, or on a disk that is nearly full.
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

namespace vmnuma::stats::tests {

/// What a child found: empty if all was as it should be. kCannot begins the reason why it could not
/// be tried.
using Verdict = std::string;
inline constexpr char kCannot[] = "cannot: ";

/// Runs `work` in a forked process and returns what it says, or how it died.
[[nodiscard]] Verdict in_child(const std::function<Verdict()>& work);

/// Gives up root's power over file permissions for the rest of the (child) process.
void become_nobody();

/// In a (child) process: mounts an empty file system of `kib` KiB over `directory`, seen by this
/// process only. Returns a Verdict that begins with kCannot where that is not allowed.
[[nodiscard]] Verdict mount_small_disk(const std::string& directory, int kib);

}  // namespace vmnuma::stats::tests
