// SPDX-License-Identifier: Apache-2.0
/// The subset of HTTP/1.1 (RFC 9110, RFC 9112) that this program supports: GET and HEAD, one
/// request per connection. Boost.Beast handles the syntax.
///
/// Properties:
///  - every head gives either a request or an error status, whatever bytes it contains;
///  - every response has headers that allow a browser nothing but to display it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Limit for a request: its first line and headers together.
inline constexpr std::size_t kLongestHead = std::size_t{8} * 1024;

struct HttpRequest {
  std::string path;  ///< without the query; not decoded, because none of our paths needs that
  std::string
      host;  ///< the requested host, in lower case and without the port; may be empty in HTTP/1.0
  bool head_only = false;  ///< HEAD: the answer without its body
  bool takes_gzip = false;
  std::string authorization =
      {};  ///< value of that header; empty if it is missing or there are several
};

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  ///< shared by all connections that send it
  bool is_gzip = false;                     ///< whether `body` is compressed with gzip

  [[nodiscard]] static HttpResponse of(int status, std::string text);
};

/// The relevant parts of a request's head, as parsed by Beast.
struct HttpHead {
  std::string_view method;
  std::string_view target;
  int version = 11;  ///< as Beast counts: 10 and 11
  std::vector<std::string_view> hosts;
  bool has_body = false;
  bool expects = false;                          ///< the request has an Expect header
  std::vector<std::string_view> encodings = {};  ///< the request's Accept-Encoding headers
  std::string_view authorization = {};
};

/// Checks a head and converts it to a request. Error: the status to answer with: 400, 405, 413 for
/// a request with a body, 417.
[[nodiscard]] tl::expected<HttpRequest, int> understand(const HttpHead& head);

/// Returns the names and values of the headers that every response has in addition to its type and
/// length.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> response_headers(
    const HttpResponse& response);

}  // namespace vmnuma::tools
