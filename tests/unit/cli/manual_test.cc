// SPDX-License-Identifier: Apache-2.0
// The manual names what the program names. Options and keys need no test: their sections are made
// from the tables (tools/describe), and the options and commands of --help are checked by
// man/check-help.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "balancer/model/mode.h"
#include "balancer/policy/policy_keys.h"
#include "balancer/protocol/request.h"
#include "placement/model/plan.h"
#include "stats/reports/report.h"
#include "tools/vmnuma/arguments/invocation.h"

namespace vmnuma {
namespace {

std::string page(const std::string& name) {
  std::ifstream file(VMNUMA_SOURCE_DIR "/man/" + name + ".scd");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool has(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

/// The names of an enumeration without gaps, from its first value to what has no name any more.
template <class Enum>
std::vector<std::string_view> names() {
  std::vector<std::string_view> found;
  for (int value = 0; name_of(static_cast<Enum>(value)) != "unknown"; ++value) {
    found.push_back(name_of(static_cast<Enum>(value)));
  }
  return found;
}

TEST(ManualTest, EveryGuardIsExplained) {
  const std::string text = page("vmnuma.7");
  EXPECT_GE(names<Guard>().size(), 19U);
  for (const std::string_view guard : names<Guard>()) {
    EXPECT_TRUE(has(text, "  " + std::string(guard) + "\n") ||
                has(text, "|[ " + std::string(guard) + "\n"))
        << guard;
  }
}

TEST(ManualTest, EveryCommandOfTheReadmeIsOne) {
  std::ifstream file(VMNUMA_SOURCE_DIR "/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string begin = "`vmnuma ";
  std::size_t commands = 0;
  for (auto at = readme.find(begin); at != std::string::npos; at = readme.find(begin, at + 1)) {
    const auto first = at + begin.size();
    const std::string line = readme.substr(first, readme.find_first_of("`>", first) - first);
    ++commands;
    std::istringstream words(line);
    using Words = std::istream_iterator<std::string>;
    const auto invocation = tools::parse_arguments(std::vector<std::string>(Words(words), Words()),
                                                   /*now_unix_s=*/1738324800);
    EXPECT_TRUE(invocation || line == "help COMMAND") << line << "\n" << invocation.error().text;
  }
  EXPECT_GE(commands, 20U);
}

TEST(ManualTest, EveryModeIsExplained) {
  const std::string text = page("vmnuma.7");
  EXPECT_EQ(names<balancer::Mode>().size(), 5U);
  for (const std::string_view mode : names<balancer::Mode>()) {
    EXPECT_TRUE(has(text, "\n*" + std::string(mode) + "*\n\t")) << mode;
  }
}

TEST(ManualTest, EveryTableIsExplained) {
  const std::string text = page("sched-stats.1");
  EXPECT_FALSE(stats::report_types().empty());
  for (const std::string_view type : stats::report_types()) {
    EXPECT_TRUE(has(text, "*" + std::string(type) + "*")) << type;
  }
}

TEST(ManualTest, TheSchemaHasEveryPolicyKey) {
  std::ifstream file(VMNUMA_SOURCE_DIR "/man/policy.rng");
  const std::string schema{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const auto& key : balancer::policy_keys()) {
    EXPECT_TRUE(has(schema, "<attribute name=\"" + std::string(key.name) + "\"")) << key.name;
  }
}

TEST(ManualTest, LimitOfARequestIsTheProgramsOwn) {
  EXPECT_TRUE(has(page("vmnumad.8"), std::to_string(balancer::kLongestRequest) + " bytes"));
}

}  // namespace
}  // namespace vmnuma
