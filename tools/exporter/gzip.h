// SPDX-License-Identifier: Apache-2.0
/// Texts as a file of gzip (RFC 1952), for who reads them over a network.
#pragma once

#include <string>
#include <string_view>

namespace vmnuma::tools {

/// Quick rather than small. Any thread.
[[nodiscard]] std::string gzip(std::string_view text);

}  // namespace vmnuma::tools
