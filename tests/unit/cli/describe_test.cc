// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/config/keys.h"
#include "balancer/policy/policy_keys.h"
#include "placement/model/options.h"
#include "tools/describe/manual_page.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DescribeTest, TextWithoutSectionsStaysAsItIs) {
  EXPECT_EQ(*fill_page("page(1)\n\n# NAME\n\nuser@host\n"), "page(1)\n\n# NAME\n\nuser@host\n");
  EXPECT_EQ(*fill_page(""), "");
  EXPECT_EQ(*fill_page("no end of line"), "no end of line\n");
}

TEST(DescribeTest, UnknownSectionIsAnError) {
  const auto page = fill_page("a\n@optoins@\n");
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().message, "there is no section '@optoins@'");
}

TEST(DescribeTest, EveryOptionIsInOneOfTheTwoSections) {
  const std::string esxi = *fill_page("@options-esxi@\n");
  const std::string own = *fill_page("@options-own@\n");
  for (const auto& option : option_table()) {
    const std::string heading = "*\"" + std::string(option.name) +
                                "\"* = " + std::to_string(Options{}.*option.value) + "\n";
    EXPECT_THAT(option.from_esxi ? esxi : own, HasSubstr(heading));
    EXPECT_THAT(option.from_esxi ? own : esxi, Not(HasSubstr(heading)));
  }
  EXPECT_THAT(
      esxi,
      HasSubstr("*\"Numa.MigThreshold\"* = 2\n\tLeast improvement of a load move or swap, in per "
                "cent of a node's capacity. Allowed: 0 to 100 %.\n\n"));
}

TEST(DescribeTest, EveryKeyIsInItsSection) {
  const auto expect_all = [](const auto& keys, const std::string& section) {
    for (const auto& key : keys) {
      EXPECT_THAT(section, HasSubstr("*" + escaped(key.name) + "* = "));
    }
  };
  expect_all(balancer::top_keys(), *fill_page("@keys@\n"));
  expect_all(balancer::history_keys(), *fill_page("@history@\n"));
  expect_all(balancer::policy_keys(), *fill_page("@policy@\n"));
  EXPECT_THAT(*fill_page("@keys@\n"), HasSubstr("*mode* = \"dry\\-run\"\n\t"));
}

TEST(DescribeTest, ExamplesAreThoseOfTheCommandsAndOfTheirGroupsInTheOrderNamed) {
  EXPECT_EQ(*fill_page("@examples resume pause@\n"),
            "*vmnuma resume*\n\tStart moves again\n\n*vmnuma pause*\n\tStart no more moves until "
            "resumed\n\n");
  const std::string sim = *fill_page("@examples sim@\n");
  EXPECT_THAT(sim, HasSubstr("*vmnuma sim list*\n\tList the scenarios\n\n"));
  EXPECT_FALSE(fill_page("@examples pause resmue@\n"));
}

TEST(DescribeTest, MarkupIsEscaped) {
  EXPECT_EQ(escaped("a_b *c* \\ # [x]"), "a\\_b \\*c\\* \\\\ \\# \\[x\\]");
}

}  // namespace
}  // namespace vmnuma::tools
