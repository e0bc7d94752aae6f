// SPDX-License-Identifier: Apache-2.0
/// Users of the web pages (HTTP's Basic authentication, RFC 7617).
///
/// Problem: a bcrypt hash takes a tenth of a second of CPU time, by design, and a scraper sends a
/// request every few seconds. Approach: right credentials are remembered by their SHA-256, so that
/// only the first request of a user and wrong ones cost that time, which the server spends on
/// another thread (http_server.h).
///
/// Properties:
///  - an unknown user name takes as long as a wrong password;
///  - no password is stored.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tools/exporter/web_config.h"

namespace vmnuma::tools {

struct Credentials {
  std::string user;
  std::string password;
  bool operator==(const Credentials&) const = default;
};

/// From an Authorization header; nothing if it does not use the scheme Basic.
[[nodiscard]] std::optional<Credentials> credentials_in(std::string_view header);

class Passwords {
 public:
  explicit Passwords(WebUsers users) : users_(std::move(users)) {}

  /// No password is required.
  [[nodiscard]] bool empty() const { return users_.empty(); }
  /// Slow. Any thread. A password of more than bcrypt's 72 bytes is never right.
  [[nodiscard]] bool are_right(const Credentials& credentials) const;

  /// For the server's thread only.
  void remember(const Credentials& right);
  [[nodiscard]] bool remembers(const Credentials& credentials) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  [[nodiscard]] static std::optional<Digest> digest_of(const Credentials& credentials);

  WebUsers users_;
  std::set<Digest> right_;  ///< at most one per user
};

}  // namespace vmnuma::tools
