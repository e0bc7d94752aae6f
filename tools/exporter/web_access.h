// SPDX-License-Identifier: Apache-2.0
/// What a server requires of its clients, according to the current contents of a file
/// (web_config.h).
///
/// Problem: certificates are renewed every few weeks, and passwords change, while the server runs.
/// Approach: when a client connects, the identity, size and time of the files are compared with
/// those of the files that were read, and all are read again if any differs.
///
/// Properties:
///  - a connection keeps the settings with which it began;
///  - if new files cannot be used, the old settings stay in effect, and that is reported once per
///    change.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ssl/context.hpp>

#include "placement/base/result.h"
#include "tools/exporter/passwords.h"
#include "tools/exporter/web_config.h"

namespace vmnuma::tools {

struct Access {
  std::optional<boost::asio::ssl::context> tls;  ///< nothing: plain HTTP
  Passwords passwords;
};

class WebAccess {
 public:
  /// Errors: those of reading the file and the files that it names.
  [[nodiscard]] static Result<WebAccess> read(std::filesystem::path file,
                                              std::function<void(const std::string&)> report);

  [[nodiscard]] bool has_tls() const { return access_->tls.has_value(); }
  /// Returns the current settings, for a client that has just connected. A file that removes TLS is
  /// ignored: what was announced as https must not be served in plain text.
  [[nodiscard]] std::shared_ptr<Access> now();

 private:
  struct Seen {
    std::filesystem::path path;
    std::vector<std::int64_t> state;  ///< empty: the file does not exist
    bool operator==(const Seen&) const = default;
  };
  [[nodiscard]] static Seen look_at(const std::filesystem::path& path);
  WebAccess() = default;
  Result<void> read();

  std::filesystem::path file_;
  std::function<void(const std::string&)> report_;
  std::vector<Seen> seen_;  ///< states of the files that were read, or that could not be read
  std::shared_ptr<Access> access_;
};

}  // namespace vmnuma::tools
