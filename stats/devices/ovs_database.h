// SPDX-License-Identifier: Apache-2.0
/// Queries Open vSwitch's database.
///
/// Problem: calling ovs-vsctl(8) would need a child process, which the daemon's sandbox otherwise
/// does not need to allow. Approach: one request over the database server's own socket, like
/// ovs-vsctl (ovsdb-server(1): --remote=punix:; RFC 7047, section 4). Answers are JSON texts
/// without separators, and the server may send requests itself (echo, section 4.1.11), so texts are
/// split by matching brackets, and the answer is recognized by its id.
///
/// Properties:
///  - the call returns by the deadline, whatever the server does;
///  - no more than kMostOvsBytes are read;
///  - signals do not interrupt a call.
#pragma once

#include <chrono>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::stats {

/// Returns the answer to ovs_request(). Blocks for at most `patience`. Errors: not-found (Open
/// vSwitch does not run here), permission-denied (its socket belongs to root by default),
/// unavailable (no answer in time, or none at all), corrupt (too long), io, invalid-argument (the
/// path is too long).
[[nodiscard]] Result<std::string> ask_ovs_database(const std::string& socket_path,
                                                   std::chrono::milliseconds patience);

}  // namespace vmnuma::stats
