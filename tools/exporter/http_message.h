// SPDX-License-Identifier: Apache-2.0
/// The small part of HTTP/1.1 (RFC 9112) that this program speaks: GET, one request a connection.
///
/// Properties: every head gets a request or a status that says what is wrong with it, whatever
/// bytes are in it; every response carries the headers that keep a browser from doing more with it
/// than showing it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Of a request: its first line and headers together.
inline constexpr std::size_t kLongestHead = std::size_t{8} * 1024;

struct HttpRequest {
  std::string path;  ///< without the query, not decoded: no path of ours needs it
  std::string host;  ///< the Host header without its port; empty in HTTP/1.0
};

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  ///< shared by all who are being sent it

  [[nodiscard]] static HttpResponse of(int status, std::string text);
};

/// Reads a head without the empty line that ends it. Error: the status to answer with: 400, 405,
/// 417 or 505, and 413 for a request with a body.
[[nodiscard]] tl::expected<HttpRequest, int> parse_http_head(std::string_view head);

/// The response's first line and headers, with the empty line.
[[nodiscard]] std::string http_head(const HttpResponse& response);

[[nodiscard]] std::string_view http_reason(int status);

}  // namespace vmnuma::tools
