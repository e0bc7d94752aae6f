// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/passwords.h"

#include <memory>
#include <vector>

#include <crypt.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <strings.h>

namespace vmnuma::tools {

namespace {

constexpr std::size_t kMostOfBcrypt = 72;  // of a password, in bytes

bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool is_basic(std::string_view scheme) {
  constexpr std::string_view kBasic = "basic";
  return scheme.size() == kBasic.size() &&
         ::strncasecmp(scheme.data(), kBasic.data(), kBasic.size()) == 0;
}

/// Decodes base64; nothing if the text is not base64 with padding (RFC 4648, section 4).
std::optional<std::string> base64_decoded(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto end = text.find_first_not_of(kDigits);
  const std::size_t padding = end == text.npos ? 0 : text.size() - end;
  if (text.empty() || text.size() % 4 != 0 || padding > 2 ||
      (padding > 0 && text.substr(end) != std::string_view("==").substr(0, padding))) {
    return std::nullopt;
  }
  std::vector<unsigned char> bytes(text.size() / 4 * 3);
  const int length =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  if (length < 0 || static_cast<std::size_t>(length) != bytes.size()) {
    return std::nullopt;
  }
  return std::string(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(padding));
}

}  // namespace

std::optional<Credentials> credentials_in(std::string_view header) {
  const auto space = header.find(' ');
  if (space == header.npos || !is_basic(header.substr(0, space))) {
    return std::nullopt;
  }
  const auto first = header.find_first_not_of(' ', space);
  const auto text = first == header.npos ? std::nullopt : base64_decoded(header.substr(first));
  const auto colon = text ? text->find(':') : std::string::npos;
  if (colon == std::string::npos) {
    return std::nullopt;
  }
  return Credentials{text->substr(0, colon), text->substr(colon + 1)};
}

bool Passwords::are_right(const Credentials& credentials) const {
  const auto user = users_.find(credentials.user);
  const bool is_possible = user != users_.end() && credentials.password.size() <= kMostOfBcrypt &&
                           credentials.password.find('\0') == std::string::npos;
  const std::string& hash = is_possible ? user->second : users_.begin()->second;
  const auto room = std::make_unique<crypt_data>();  // 32 KiB
  const char* const made = ::crypt_r(credentials.password.c_str(), hash.c_str(), room.get());
  return made != nullptr && is_same(made, hash) && is_possible;
}

std::optional<Passwords::Digest> Passwords::digest_of(const Credentials& credentials) {
  const std::string text =
      credentials.user + '\0' + credentials.password;  // no name contains a NUL
  Digest digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    return std::nullopt;
  }
  return digest;
}

void Passwords::remember(const Credentials& right) {
  if (const auto digest = digest_of(right)) {
    right_.insert(*digest);
  }
}

bool Passwords::remembers(const Credentials& credentials) const {
  const auto digest = digest_of(credentials);
  return digest && right_.contains(*digest);
}

}  // namespace vmnuma::tools
