// SPDX-License-Identifier: Apache-2.0
/// Asks Open vSwitch's database.
///
/// Problem: ovs-vsctl(8) would be a child process, which the daemon's sandbox has no need for.
/// Approach: one request over the database server's own socket, as ovs-vsctl sends it (ovsdb-server
/// (1): --remote=punix:; RFC 7047, section 4). Answers are JSON texts without anything between
/// them, and the server may ask something itself (echo, section 4.1.11), so they are told apart by
/// their brackets and the answer by its id.
///
/// Properties:
///  - it ends at the deadline, whatever the server does;
///  - no more than kMostOvsBytes are read;
///  - a signal interrupts nothing.
#pragma once

#include <chrono>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::stats {

/// The answer to ovs_request(). Blocks, for `patience` at most. Errors: not-found (no Open vSwitch
/// here), permission-denied (its socket is root's unless it was told otherwise), unavailable (no
/// answer in time, or none at all), corrupt (too long), io, invalid-argument (the path is too
/// long).
[[nodiscard]] Result<std::string> ask_ovs_database(const std::string& socket_path,
                                                   std::chrono::milliseconds patience);

}  // namespace vmnuma::stats
