// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/passwords.h"

#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

/// Of "secret", by htpasswd -nbB -C 5.
const std::string kHash = "$2y$05$heS1bovRPTYuP3rEQXQQ.eSPmnVEeCzNpSDiBBj4DrW/Di13Lke/2";

TEST(CredentialsTest, AreReadFromBasicOfAnyCase) {
  // RFC 7617, section 2.
  EXPECT_EQ(credentials_in("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            (Credentials{"Aladdin", "open sesame"}));
  EXPECT_EQ(credentials_in("bAsIc  dGVzdDoxMjPCow=="), (Credentials{"test", "123\xc2\xa3"}));
  EXPECT_EQ(credentials_in("Basic YTpiOmM="), (Credentials{"a", "b:c"}));
  EXPECT_EQ(credentials_in("Basic Og=="), (Credentials{"", ""}));
}

TEST(CredentialsTest, WhatIsNoneOfBasicIsNothing) {
  for (const char* header :
       {"", "Basic", "Basic ", "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic QWxhZGRpbg==",
        "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ", "Basic Og=", "Basic Og===", "Basic O===", "Basic ====",
        "Basic Og==Og==", "Basic \n\n\n\n", "Basic O g=", "Basic QWxh$GRp", "BasicOg=="}) {
    EXPECT_EQ(credentials_in(header), std::nullopt) << header;
  }
}

TEST(PasswordsTest, OnlyTheUsersOwnIsRight) {
  const Passwords passwords({{"alice", kHash}});
  EXPECT_TRUE(passwords.are_right({"alice", "secret"}));
  for (const Credentials& wrong :
       {Credentials{"alice", "Secret"}, Credentials{"alice", ""}, Credentials{"bob", "secret"},
        Credentials{"", "secret"}, Credentials{"alice", kHash},
        Credentials{"alice", std::string("secret\0x", 8)},
        Credentials{"alice", std::string("secret\0", 7)}}) {
    EXPECT_FALSE(passwords.are_right(wrong)) << wrong.user << ":" << wrong.password;
  }
}

TEST(PasswordsTest, OfMoreThanBcryptReadsNoneIsRight) {
  // Of 72 times 'a': what is behind that, bcrypt does not look at.
  const Passwords passwords(
      WebUsers{{"alice", "$2y$05$aaaaaaaaaaaaaaaaaaaaa.3WYOCI.iQvo32vXp.D7WQiMkunYwJSO"}});
  EXPECT_TRUE(passwords.are_right({"alice", std::string(72, 'a')}));
  EXPECT_FALSE(passwords.are_right({"alice", std::string(73, 'a')}));
}

TEST(PasswordsTest, WhatWasRightOnceIsRememberedForThatUserAlone) {
  Passwords passwords({{"alice", kHash}, {"bob", kHash}});
  EXPECT_FALSE(passwords.remembers({"alice", "secret"}));
  passwords.remember({"alice", "secret"});
  EXPECT_TRUE(passwords.remembers({"alice", "secret"}));
  EXPECT_FALSE(passwords.remembers({"bob", "secret"}));
  EXPECT_FALSE(passwords.remembers({"alice", "secret2"}));
}

}  // namespace
}  // namespace vmnuma::tools
