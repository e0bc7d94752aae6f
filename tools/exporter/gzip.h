// SPDX-License-Identifier: Apache-2.0
/// Texts as a gzip file (RFC 1952), for network clients.
#pragma once

#include <string>
#include <string_view>

namespace vmnuma::tools {

/// Quick rather than small. Any thread.
[[nodiscard]] std::string gzip(std::string_view text);

}  // namespace vmnuma::tools
