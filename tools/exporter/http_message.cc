// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/http_message.h"

#include <algorithm>
#include <optional>

#include "placement/base/lower_case.h"
#include "placement/base/trimmed.h"

namespace vmnuma::tools {

namespace {

bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

/// Returns "localhost:9721" or "[::1]:9721" without the port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    return host.substr(0, host.find(']') + 1);
  }
  return host.substr(0, host.rfind(':'));
}

/// A request's target (RFC 9112, section 3.2): "/metrics?x", or "http://localhost:9721/metrics?x",
/// as sent by clients that take us for a proxy. The latter's host takes precedence over the Host
/// header.
struct Target {
  std::string_view path;  ///< without the query
  std::string_view host;  ///< with its port; empty: the Host header counts
};

std::optional<Target> parse_target(std::string_view target) {
  Target parsed;
  const std::size_t scheme = target.find("://");
  if (scheme != std::string_view::npos && !target.starts_with('/')) {
    const std::string name = lower_case(target.substr(0, scheme));
    target.remove_prefix(scheme + 3);
    parsed.host = target.substr(0, target.find_first_of("/?"));
    target.remove_prefix(parsed.host.size());
    const bool has_user = parsed.host.find('@') != std::string_view::npos;
    if ((name != "http" && name != "https") || parsed.host.empty() || has_user) {
      return std::nullopt;
    }
    parsed.path = target.starts_with('/') ? target.substr(0, target.find('?')) : "/";
    return parsed;
  }
  if (!target.starts_with('/')) {
    return std::nullopt;
  }
  parsed.path = target.substr(0, target.find('?'));
  return parsed;
}

/// Returns whether an Accept-Encoding header (RFC 9110, section 12.5.3) has gzip with a weight
/// above 0.
bool accepts_gzip(std::string_view header) {
  while (!header.empty()) {
    const auto comma = header.find(',');
    const std::string_view entry = header.substr(0, comma);
    header = comma == std::string_view::npos ? "" : header.substr(comma + 1);
    const auto semicolon = entry.find(';');
    if (trimmed(entry.substr(0, semicolon)) != "gzip") {
      continue;
    }
    const std::string_view weight =
        semicolon == std::string_view::npos ? "" : trimmed(entry.substr(semicolon + 1));
    const bool is_none =
        weight.starts_with("q=0") && weight.substr(3).find_first_not_of(".0") == weight.npos;
    return !is_none;
  }
  return false;
}

}  // namespace

HttpResponse HttpResponse::of(int status, std::string text) {
  HttpResponse response;
  response.status = status;
  response.body = std::make_shared<const std::string>(std::move(text));
  return response;
}

tl::expected<HttpRequest, int> understand(const HttpHead& head) {
  const bool has_host = head.hosts.size() == 1 && is_visible(head.hosts.front());
  // RFC 9112, section 3.2: HTTP/1.1 requires a Host header; several or a malformed one are never
  // allowed.
  if (!has_host && (head.version >= 11 || !head.hosts.empty())) {
    return tl::unexpected(400);
  }
  if (head.expects) {
    return tl::unexpected(417);
  }
  if (head.method != "GET" && head.method != "HEAD") {
    return tl::unexpected(405);
  }
  if (head.has_body) {
    return tl::unexpected(413);
  }
  const std::optional<Target> target = parse_target(head.target);
  if (!target || !is_visible(head.target)) {
    return tl::unexpected(400);
  }
  const std::string_view host = !target->host.empty() ? target->host
                                : has_host            ? head.hosts.front()
                                                      : std::string_view();
  return HttpRequest{.path = std::string(target->path),
                     .host = lower_case(without_port(host)),
                     .head_only = head.method == "HEAD",
                     .takes_gzip = std::ranges::any_of(head.encodings, accepts_gzip),
                     .authorization = std::string(head.authorization)};
}

std::vector<std::pair<std::string_view, std::string_view>> response_headers(
    const HttpResponse& response) {
  std::vector<std::pair<std::string_view, std::string_view>> headers{
      {"Content-Type", response.content_type},
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
       "'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Connection", "close"},
  };
  if (response.status == 200) {
    headers.emplace_back("Vary", "Accept-Encoding");
  }
  if (response.is_gzip) {
    headers.emplace_back("Content-Encoding", "gzip");
  }
  if (response.status == 401) {
    headers.emplace_back("WWW-Authenticate", "Basic realm=\"vmnuma\", charset=\"UTF-8\"");
  }
  if (response.status == 405) {
    headers.emplace_back("Allow", "GET, HEAD");
  }
  return headers;
}

}  // namespace vmnuma::tools
