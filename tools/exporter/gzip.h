// SPDX-License-Identifier: Apache-2.0
/// Compresses texts in the gzip format (RFC 1952), for network clients.
#pragma once

#include <string>
#include <string_view>

namespace vmnuma::tools {

/// Compresses the text, favoring speed over size. Any thread.
[[nodiscard]] std::string gzip(std::string_view text);

}  // namespace vmnuma::tools
