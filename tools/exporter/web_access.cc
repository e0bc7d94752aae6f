// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/web_access.h"

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include "stats/files/file.h"

namespace vmnuma::tools {

namespace {

/// All public certificate authorities together take less than a quarter of this.
constexpr std::size_t kMostPem = std::size_t{1024} * 1024;

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

int version_of(TlsVersion version) {
  return version == TlsVersion::kTls12 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

ssl::verify_mode verify_mode_of(ClientAuth auth) {
  switch (auth) {
    case ClientAuth::kNone:
      break;
    case ClientAuth::kVerifyIfGiven:
      return ssl::verify_peer;
    case ClientAuth::kRequireAndVerify:
      return ssl::verify_peer | ssl::verify_fail_if_no_peer_cert;
  }
  return ssl::verify_none;
}

tl::unexpected<Error> cannot_use(const std::filesystem::path& file, const error_code& error) {
  return failure(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' cannot be used: {}", file.string(), error.message()));
}

Result<ssl::context> tls_context(const TlsConfig& config) {
  ssl::context context(ssl::context::tls_server);
  SSL_CTX* const native = context.native_handle();
  if (SSL_CTX_set_min_proto_version(native, version_of(config.min_version)) != 1 ||
      SSL_CTX_set_max_proto_version(native, version_of(config.max_version)) != 1) {
    return failure(ErrorCode::kUnsupported, "OpenSSL does not support these versions of TLS");
  }
  // One request per connection: no sessions are resumed, and buffers are not kept.
  (void)SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  (void)SSL_CTX_set_options(native, SSL_OP_NO_TICKET);
  (void)SSL_CTX_set_num_tickets(native, 0);
  (void)SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  // OpenSSL must not open the files itself: it would wait for the writer of a named pipe.
  const auto use = [](const std::filesystem::path& file, const auto& give) {
    return files::read_file(file, kMostPem).and_then([&](const std::string& text) -> Result<void> {
      error_code problem;
      return give(boost::asio::buffer(text), problem) ? cannot_use(file, problem) : Result<void>();
    });
  };
  auto used = use(config.cert_file, [&](const auto& text, error_code& problem) {
    return context.use_certificate_chain(text, problem);
  });
  if (used) {  // also rejects a key that does not match the certificate
    used = use(config.key_file, [&](const auto& text, error_code& problem) {
      return context.use_private_key(text, ssl::context::pem, problem);
    });
  }
  if (used && !config.client_ca_file.empty()) {
    used = use(config.client_ca_file, [&](const auto& text, error_code& problem) {
      return context.add_certificate_authority(text, problem);
    });
  }
  if (!used) {
    return tl::unexpected(std::move(used).error());
  }
  error_code error;
  if (context.set_verify_mode(verify_mode_of(config.client_auth), error)) {
    return failure(ErrorCode::kUnsupported, error.message());
  }
  return context;
}

/// Loads the files. Errors: invalid-argument, with the file and OpenSSL's message, and those of
/// reading it (stats/files/file.h).
Result<std::shared_ptr<Access>> make_access(const WebConfig& config) {
  auto access = std::make_shared<Access>(Access{std::nullopt, Passwords(config.users)});
  if (config.tls) {
    VMNUMA_ASSIGN_OR_RETURN(auto context, tls_context(*config.tls));
    access->tls = std::move(context);
  }
  return access;
}

}  // namespace

WebAccess::Seen WebAccess::look_at(const std::filesystem::path& path) {
  Seen seen{path, {}};
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    seen.state = {static_cast<std::int64_t>(status.st_dev),
                  static_cast<std::int64_t>(status.st_ino), status.st_size, status.st_mtim.tv_sec,
                  status.st_mtim.tv_nsec};
  }
  return seen;
}

Result<void> WebAccess::read() {
  // Checked before they are read, so that a change in between is noticed the next time.
  seen_ = {look_at(file_)};
  VMNUMA_ASSIGN_OR_RETURN(const auto config, read_web_config(file_));
  if (config.tls) {
    for (const auto& path :
         {config.tls->cert_file, config.tls->key_file, config.tls->client_ca_file}) {
      if (!path.empty()) {
        seen_.push_back(look_at(path));
      }
    }
  }
  VMNUMA_ASSIGN_OR_RETURN(auto access, make_access(config));
  if (access_ && has_tls() && !access->tls) {
    return failure(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' no longer configures TLS, and switching it off needs a restart",
                    file_.string()));
  }
  access_ = std::move(access);
  return {};
}

Result<WebAccess> WebAccess::read(std::filesystem::path file,
                                  std::function<void(const std::string&)> report) {
  WebAccess access;
  access.file_ = std::move(file);
  access.report_ = std::move(report);
  VMNUMA_RETURN_IF_ERROR(access.read());
  return access;
}

std::shared_ptr<Access> WebAccess::now() {
  const bool is_as_seen =
      std::ranges::all_of(seen_, [](const Seen& seen) { return look_at(seen.path) == seen; });
  if (!is_as_seen) {
    if (const auto done = read(); !done) {
      report_(fmt::format("{}; the previous files stay in force", done.error().message));
    } else {
      report_(fmt::format("'{}' or a file that it names has changed and was read again",
                          file_.string()));
    }
  }
  return access_;
}

}  // namespace vmnuma::tools
