// SPDX-License-Identifier: Apache-2.0
#include "placement/base/mapped.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma {
namespace {

using testing::ElementsAre;

struct Named {
  std::string name;
};

TEST(MappedTest, TheOrderIsThatOfTheRange) {
  EXPECT_THAT(mapped(std::map<int, int>{{2, 20}, {1, 10}},
                     [](const auto& entry) { return entry.first + entry.second; }),
              ElementsAre(11, 22));
}

TEST(MappedTest, AMemberIsCopiedUnlessAnotherTypeIsNamed) {
  const std::vector<Named> named = {{"a"}, {"b"}};
  const std::vector<std::string> copies = mapped(named, &Named::name);
  const std::vector<std::string_view> views = mapped<std::string_view>(named, &Named::name);
  EXPECT_THAT(copies, ElementsAre("a", "b"));
  EXPECT_EQ(views[0].data(), named[0].name.data());
}

TEST(MappedTest, ElementsCanBeMovedOutOfTheRange) {
  std::vector<std::unique_ptr<int>> from;
  from.push_back(std::make_unique<int>(7));
  const auto moved = mapped(from, [](std::unique_ptr<int>& each) { return std::move(each); });
  EXPECT_EQ(*moved[0], 7);
  EXPECT_EQ(from[0], nullptr);
}

}  // namespace
}  // namespace vmnuma
