// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/http_message.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace vmnuma::tools {

namespace {

/// A token of RFC 9110, section 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool equal_but_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) {
    return {};
  }
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

/// "localhost:9721" and "[::1]:9721" without the port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    return host.substr(0, host.find(']') + 1);
  }
  return host.substr(0, host.rfind(':'));
}

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

}  // namespace

HttpResponse HttpResponse::of(int status, std::string text) {
  HttpResponse response;
  response.status = status;
  response.body = std::make_shared<const std::string>(std::move(text));
  return response;
}

tl::expected<HttpRequest, int> parse_http_head(std::string_view head) {
  const std::string_view line = take_line(head);
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return tl::unexpected(400);
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || target.empty() || !is_visible(target)) {
    return tl::unexpected(400);
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return tl::unexpected(version.starts_with("HTTP/") ? 505 : 400);
  }
  HttpRequest request;
  bool has_body = false;
  bool has_host = false;
  while (!head.empty()) {
    const std::string_view header = take_line(head);
    const auto colon = header.find(':');
    if (colon == std::string_view::npos || !is_token(header.substr(0, colon))) {
      return tl::unexpected(400);
    }
    const std::string_view name = header.substr(0, colon);
    const std::string_view value = trimmed(header.substr(colon + 1));
    if (equal_but_case(name, "host")) {
      if (has_host || !is_visible(value)) {
        return tl::unexpected(400);
      }
      has_host = true;
      request.host = without_port(value);
    } else if (equal_but_case(name, "content-length")) {
      has_body = has_body || value != "0";
    } else if (equal_but_case(name, "transfer-encoding")) {
      has_body = true;
    } else if (equal_but_case(name, "expect")) {
      return tl::unexpected(417);
    }
  }
  if (version == "HTTP/1.1" && !has_host) {
    return tl::unexpected(400);  // RFC 9112, section 3.2
  }
  if (method != "GET") {
    return tl::unexpected(405);
  }
  if (has_body) {
    return tl::unexpected(413);
  }
  if (!target.starts_with('/')) {
    return tl::unexpected(400);
  }
  request.path = target.substr(0, target.find('?'));
  return request;
}

std::string_view http_reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
  }
  return "Unknown";
}

std::string http_head(const HttpResponse& response) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\n"
      "Content-Type: {}\r\n"
      "Content-Length: {}\r\n"
      "Cache-Control: no-store\r\n"
      "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
      "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "X-Frame-Options: DENY\r\n"
      "{}"
      "Connection: close\r\n"
      "\r\n",
      response.status, http_reason(response.status), response.content_type,
      response.body ? response.body->size() : 0, response.status == 405 ? "Allow: GET\r\n" : "");
}

}  // namespace vmnuma::tools
