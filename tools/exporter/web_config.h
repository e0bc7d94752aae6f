// SPDX-License-Identifier: Apache-2.0
/// The web configuration file of Prometheus' exporters: TLS, and users with passwords (Prometheus
/// exporter toolkit, docs/web-configuration.md).
///
/// Administrators who protect exporters have such files already. Of the toolkit's keys, these are
/// supported here:
///
///     tls_server_config:
///       cert_file, key_file            # PEM
///       client_auth_type               # NoClientCert, VerifyClientCertIfGiven or
///                                      # RequireAndVerifyClientCert
///       client_ca_file                 # PEM
///       min_version, max_version       # TLS12 or TLS13
///     basic_auth_users:
///       NAME: HASH                     # of bcrypt, as `htpasswd -nB NAME` prints it
///
/// Properties:
///  - any other key is an error, so that no intended protection is silently left out;
///  - relative paths start at the file's directory.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "placement/base/names.h"
#include "placement/base/result.h"

namespace vmnuma::tools {

/// Requirements for a client's certificate, with the names of Go's crypto/tls.
enum class ClientAuth { kNone, kVerifyIfGiven, kRequireAndVerify };
[[nodiscard]] constexpr auto names(ClientAuth) {
  return names_in_order<ClientAuth>("NoClientCert", "VerifyClientCertIfGiven",
                                    "RequireAndVerifyClientCert");
}

enum class TlsVersion { kTls12, kTls13 };
[[nodiscard]] constexpr auto names(TlsVersion) {
  return names_in_order<TlsVersion>("TLS12", "TLS13");
}

struct TlsConfig {
  std::filesystem::path cert_file;
  std::filesystem::path key_file;
  ClientAuth client_auth = ClientAuth::kNone;
  std::filesystem::path client_ca_file;  ///< empty if and only if clients need no certificate
  TlsVersion min_version = TlsVersion::kTls12;
  TlsVersion max_version = TlsVersion::kTls13;
  bool operator==(const TlsConfig&) const = default;
};

/// bcrypt hashes by name; empty: no password is required.
using WebUsers = std::map<std::string, std::string, std::less<>>;

struct WebConfig {
  std::optional<TlsConfig> tls;
  WebUsers users;
  bool operator==(const WebConfig&) const = default;
};

/// `folder`: the directory of the file. Error: invalid-argument, with the key and its line.
[[nodiscard]] Result<WebConfig> parse_web_config(std::string_view text,
                                                 const std::filesystem::path& folder);

/// Errors: those of parse_web_config(), and of read_file() (stats/files/file.h).
[[nodiscard]] Result<WebConfig> read_web_config(const std::filesystem::path& file);

}  // namespace vmnuma::tools
