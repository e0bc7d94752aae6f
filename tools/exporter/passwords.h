// SPDX-License-Identifier: Apache-2.0
/// Users of the web pages (HTTP's Basic authentication, RFC 7617).
///
/// Problem: a bcrypt hash takes a tenth of a second of CPU time, by design, and a scraper sends a
/// request every few seconds. Approach: right credentials are remembered by their SHA-256, so that
/// only a user's first request and wrong credentials cost that time, which the server spends on
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

/// Returns the credentials in an Authorization header; nothing if it does not use the scheme Basic.
[[nodiscard]] std::optional<Credentials> credentials_in(std::string_view header);

class Passwords {
 public:
  explicit Passwords(WebUsers users) : users_(std::move(users)) {}

  /// Returns whether no password is required.
  [[nodiscard]] bool empty() const { return users_.empty(); }
  /// Returns whether the credentials are right. Slow. Any thread. A password longer than bcrypt's
  /// 72 bytes is never right.
  [[nodiscard]] bool are_right(const Credentials& credentials) const;

  /// Remembers right credentials. Only for the server's thread.
  void remember(const Credentials& right);
  [[nodiscard]] bool remembers(const Credentials& credentials) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  [[nodiscard]] static std::optional<Digest> digest_of(const Credentials& credentials);

  WebUsers users_;
  std::set<Digest> right_;  ///< at most one per user
};

}  // namespace vmnuma::tools
