// SPDX-License-Identifier: Apache-2.0
/// Queries Open vSwitch's database.
///
/// Problem: calling ovs-vsctl(8) would need a child process, which the daemon's sandbox otherwise
/// does without. Approach: one request over the database server's own socket, as ovs-vsctl sends it
/// (ovsdb-server (1): --remote=punix:; RFC 7047, section 4). Answers are JSON texts without
/// separators, and the server may send requests itself (echo, section 4.1.11), so texts are split
/// by their brackets, and the answer is recognized by its id.
///
/// Properties:
///  - it returns by the deadline, whatever the server does;
///  - no more than kMostOvsBytes are read;
///  - signals interrupt nothing.
#pragma once

#include <chrono>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::stats {

/// The answer to ovs_request(). Blocks, for `patience` at most. Errors: not-found (no Open vSwitch
/// here), permission-denied (its socket belongs to root by default), unavailable (no answer in
/// time, or none at all), corrupt (too long), io, invalid-argument (the path is too long).
[[nodiscard]] Result<std::string> ask_ovs_database(const std::string& socket_path,
                                                   std::chrono::milliseconds patience);

}  // namespace vmnuma::stats
