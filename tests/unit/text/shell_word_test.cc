// SPDX-License-Identifier: Apache-2.0
#include "stats/text/shell_word.h"

#include <gtest/gtest.h>

namespace vmnuma::text {
namespace {

TEST(ShellWordTest, WhatIsOneWordStaysAsItIs) {
  for (const char* word : {"web1", "local:snippets/vmnuma", "--delete", "a_b-c.d/e@f=1,2%+"}) {
    EXPECT_EQ(shell_word(word), word);
  }
}

TEST(ShellWordTest, WhatAShellWouldObeyIsQuoted) {
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$(reboot)"), "'$(reboot)'");
  EXPECT_EQ(shell_word("~#!*?[`\"\\"), "'~#!*?[`\"\\'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("größe"), "'größe'");
}

TEST(ShellWordTest, WhatATerminalWouldObeyIsItsBytesInNumbers) {
  EXPECT_EQ(shell_word("a\nb 'c'"), "$'a\\012b \\047c\\047'");
  EXPECT_EQ(shell_word("\xc2\x9b"
                       "31m"),
            "$'\\302\\23331m'");
  EXPECT_EQ(shell_word("\xff"), "$'\\377'");
}

}  // namespace
}  // namespace vmnuma::text
