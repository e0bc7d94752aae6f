// SPDX-License-Identifier: Apache-2.0
/// libvirt's errors in the project's terms.
///
/// Problem: libvirt reports a number, a subsystem and a sentence per thread; callers must know
/// whether to reconnect, forget the VM or leave it alone. Approach: one table from libvirt's
/// numbers to ErrorCode. The same number has different meanings depending on its source: a system
/// error of the RPC layer is a lost connection, a system error of the driver is a refusal by the
/// kernel. libvirt's sentence and number stay in the message.
///
/// Properties:
///  - an error of the connection itself is unavailable (or permission-denied when the socket is
///    closed to us), whatever its number;
///  - a refusal by the kernel keeps its errno.
#pragma once

#include <string_view>

#include "placement/base/result.h"

struct _virError;  // libvirt's name: NOLINT(bugprone-reserved-identifier)

namespace vmnuma::balancer {

/// Converts `error`; the message is "<what>: <libvirt's sentence> (libvirt error N)".
[[nodiscard]] Error to_error(const _virError& error, std::string_view what);

/// The error of the libvirt call that just failed on this thread.
[[nodiscard]] Error last_libvirt_error(std::string_view what);

}  // namespace vmnuma::balancer
