// SPDX-License-Identifier: Apache-2.0
/// Users of the web pages (HTTP's Basic authentication, RFC 7617).
///
/// Problem: a hash of bcrypt takes a tenth of a second of CPU time, by design, and a scraper asks
/// every few seconds. Approach: what was right once is remembered by its SHA-256, so that only the
/// first request of a user and wrong ones cost that time, which the server spends on another
/// thread (http_server.h).
///
/// Properties:
///  - a name that is not a user's takes as long as a wrong password;
///  - no password is kept.
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

/// From an Authorization header; nothing if it has none of the scheme Basic.
[[nodiscard]] std::optional<Credentials> credentials_in(std::string_view header);

class Passwords {
 public:
  explicit Passwords(WebUsers users) : users_(std::move(users)) {}

  /// Nobody is asked for one.
  [[nodiscard]] bool empty() const { return users_.empty(); }
  /// Takes its time. Any thread. No password of more than bcrypt's 72 bytes is right.
  [[nodiscard]] bool are_right(const Credentials& credentials) const;

  /// Of the server's thread only.
  void remember(const Credentials& right);
  [[nodiscard]] bool remembers(const Credentials& credentials) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  [[nodiscard]] static std::optional<Digest> digest_of(const Credentials& credentials);

  WebUsers users_;
  std::set<Digest> right_;  ///< at most one a user
};

}  // namespace vmnuma::tools
