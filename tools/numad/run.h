// SPDX-License-Identifier: Apache-2.0
/// What numad does: one line with nodes, or a message and a failure.
///
/// Problem: libvirt waits for the answer with the VM locked and without a time limit, and does not
/// start a VM without one. Approach: wait for the daemon's answer for kDaemonLimit; if there is
/// none, choose locally.
///
/// Properties:
///  - the answer is never an empty line;
///  - whatever the daemon answers, the node list is one that libvirt can parse (virBitmapParse,
///    util/virbitmap.c, 9.0), and the host has all of its nodes;
///  - libvirt is never called.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

namespace vmnuma::tools {

/// Exit codes. On any but the first, libvirt does not start the VM.
inline constexpr int kNumadAnswered = 0;
inline constexpr int kNumadFailed = 1;
inline constexpr int kNumadUsage = 2;

/// The whole call must take no more than a second.
inline constexpr std::chrono::milliseconds kDaemonLimit{800};

struct NumadSurroundings {
  std::ostream& out;
  std::ostream& err;
  std::string root = "/";  ///< of the host's files
  std::uint64_t turn = 0;  ///< differs from call to call
  std::chrono::milliseconds daemon_limit = kDaemonLimit;
};

[[nodiscard]] int run_numad(std::span<const std::string> arguments,
                            const NumadSurroundings& surroundings);

}  // namespace vmnuma::tools
