// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/web_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// Of "secret".
const std::string kBcrypt = "$2y$05$heS1bovRPTYuP3rEQXQQ.eSPmnVEeCzNpSDiBBj4DrW/Di13Lke/2";

std::string refused(const std::string& text) {
  const auto read = parse_web_config(text, "/etc/vmnuma");
  return read ? "" : read.error().message;
}

TEST(WebConfigTest, AnEmptyFileAsksForNothing) {
  EXPECT_EQ(parse_web_config("", "/etc/vmnuma"), WebConfig{});
  EXPECT_EQ(parse_web_config("# nothing yet\n", "/etc/vmnuma"), WebConfig{});
}

TEST(WebConfigTest, FilesAreBesideItUnlessTheirPathsAreWhole) {
  const auto read = parse_web_config(
      "tls_server_config:\n"
      "  cert_file: host.crt\n"
      "  key_file: /etc/ssl/private/host.key\n",
      "/etc/vmnuma");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(read->tls);
  EXPECT_EQ(*read->tls, (TlsConfig{"/etc/vmnuma/host.crt", "/etc/ssl/private/host.key"}));
}

TEST(WebConfigTest, ClientsCertificatesAndVersionsAreReadByGosNames) {
  const auto read = parse_web_config(
      "tls_server_config:\n"
      "  cert_file: a\n"
      "  key_file: b\n"
      "  client_auth_type: RequireAndVerifyClientCert\n"
      "  client_ca_file: c\n"
      "  min_version: TLS13\n",
      "/x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read->tls, (TlsConfig{"/x/a", "/x/b", ClientAuth::kRequireAndVerify, "/x/c",
                                   TlsVersion::kTls13, TlsVersion::kTls13}));
}

TEST(WebConfigTest, UsersHaveHashesOfBcrypt) {
  const auto read = parse_web_config(
      "basic_auth_users:\n  alice: " + kBcrypt + "\n  bob: '" + kBcrypt + "'\n", "/x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->users, UnorderedElementsAre(Pair("alice", kBcrypt), Pair("bob", kBcrypt)));
  EXPECT_THAT(refused("basic_auth_users:\n  alice: secret\n"),
              HasSubstr("line 2: the password of 'alice' is not a bcrypt hash"));
  EXPECT_THAT(refused("basic_auth_users:\n  'a:b': " + kBcrypt + "\n"), HasSubstr("'a:b'"));
}

TEST(WebConfigTest, WhatWouldProtectAndIsNotKnownHereIsRefused) {
  EXPECT_THAT(refused("rate_limit:\n  burst: 1\n"), HasSubstr("line 1: key 'rate_limit'"));
  EXPECT_THAT(refused("tls_server_config:\n  cert_file: a\n  key_file: b\n  cipher_suites: []\n"),
              HasSubstr("line 4: key 'cipher_suites' of tls_server_config is not known here"));
  EXPECT_THAT(refused("tls_server_config:\n  cert_file: a\n  key_file: b\n  min_version: TLS10\n"),
              HasSubstr("'TLS10', but must be one of: TLS12"));
  EXPECT_THAT(refused("tls_server_config:\n  cert_file: a\n  key_file: b\n"
                      "  client_auth_type: RequestClientCert\n"),
              HasSubstr("VerifyClientCertIfGiven"));
}

TEST(WebConfigTest, HalfOfAProtectionIsRefused) {
  EXPECT_THAT(refused("tls_server_config:\n  cert_file: a\n"), HasSubstr("key_file"));
  EXPECT_THAT(refused("tls_server_config:\n"), HasSubstr("needs cert_file"));
  EXPECT_THAT(refused("tls_server_config:\n  cert_file: a\n  key_file: b\n  client_ca_file: c\n"),
              HasSubstr("need each other"));
  EXPECT_THAT(refused("tls_server_config:\n  cert_file: a\n  key_file: b\n"
                      "  client_auth_type: VerifyClientCertIfGiven\n"),
              HasSubstr("need each other"));
  EXPECT_THAT(refused("tls_server_config:\n  cert_file: a\n  key_file: b\n"
                      "  min_version: TLS13\n  max_version: TLS12\n"),
              HasSubstr("max_version"));
}

TEST(WebConfigTest, WhatIsNoYamlOrNoMapIsRefusedWithItsLine) {
  EXPECT_THAT(refused("a: [1\n"), HasSubstr("line "));
  EXPECT_THAT(refused("- a\n"), HasSubstr("the file has no keys"));
  EXPECT_THAT(refused("basic_auth_users:\n  alice: [1]\n"), HasSubstr("'alice' is not text"));
  EXPECT_THAT(refused("[a]: b\n"), HasSubstr("line 1"));
  EXPECT_THAT(refused(std::string(100'000, '[')), HasSubstr("line "));
}

}  // namespace
}  // namespace vmnuma::tools
