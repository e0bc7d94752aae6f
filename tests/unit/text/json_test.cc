// SPDX-License-Identifier: Apache-2.0
#include "stats/text/json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace vmnuma::text {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

/// Why it is refused; empty if it is read.
std::string refusal_of(const std::string& text, const JsonLimits& limits) {
  const auto read = read_json<json>(text, limits, "the text");
  return read ? "" : read.error().message;
}

TEST(ReadJsonTest, ReadsWhatIsWithinItsLimits) {
  const JsonLimits limits{.bytes = 23, .depth = 3, .values = 7, .members = 2};
  const std::string text = R"({"a":[[],[1]],"b":"[{"})";
  ASSERT_EQ(text.size(), limits.bytes);
  EXPECT_EQ(refusal_of(text, limits), "");
  EXPECT_THAT(refusal_of(text, {22, 3, 7, 2}), HasSubstr("the text is longer than 22 bytes"));
  EXPECT_THAT(refusal_of(text, {23, 2, 7, 2}), HasSubstr("nested more than 2 deep"));
  EXPECT_THAT(refusal_of(text, {23, 3, 5, 2}), HasSubstr("more than 5 values"));
  EXPECT_THAT(refusal_of(text, {23, 3, 7, 1}), HasSubstr("an object of more than 1 members"));
}

TEST(ReadJsonTest, BracketsInStringsAreText) {
  EXPECT_EQ(refusal_of(R"({"\"[[[[[[":"[\\"})", {100, 1}), "");
}

TEST(ReadJsonTest, RefusesWhatIsNoObject) {
  for (const char* text : {"", "{", "{}}", "[]", "nul", "{\"\xff\":1}", "{}{}", "{\"a\":1e999}"}) {
    EXPECT_EQ(refusal_of(text, {100}), "the text is not a JSON object") << text;
  }
}

// Parsed, it takes 75 bytes for each of them.
TEST(ReadJsonTest, MegabytesOfBracketsAreNotParsed) {
  EXPECT_THAT(refusal_of(std::string(20 * kMiB, '['), {32 * kMiB}), HasSubstr("nested more than"));
}

TEST(ReadJsonTest, ManySmallValuesAreNotParsed) {
  std::string text = "[";
  for (std::size_t i = 0; i < 5 * kMiB; ++i) {
    text += "{},";
  }
  EXPECT_THAT(refusal_of(text + "{}]", {32 * kMiB}), HasSubstr("values"));
}

TEST(ReadJsonTest, KeepsTheOrderForCallersThatAskForIt) {
  const auto read = read_json<ordered_json>(R"({"b":1,"a":2})", {100}, "it");
  ASSERT_TRUE(read);
  EXPECT_EQ(json_text(*read), R"({"b":1,"a":2})");
}

TEST(IntegerOfTest, IsNothingForWhatDoesNotFit) {
  EXPECT_EQ(integer_of(json(-7)), -7);
  EXPECT_EQ(integer_of(json(9'223'372'036'854'775'807U)), 9'223'372'036'854'775'807);
  EXPECT_EQ(integer_of(json(9'223'372'036'854'775'808U)), std::nullopt);
  EXPECT_EQ(integer_of(json(1.0)), std::nullopt);
  EXPECT_EQ(integer_of(json("1")), std::nullopt);
}

TEST(JsonTextTest, EscapesWhatATerminalObeysAndLosesNothing) {
  const std::string name = "a\n\x1b[2J\x7f \xc2\x9b \xe2\x80\xae größe";
  const std::string text = json_text(json{{"name", name}});
  EXPECT_EQ(text, R"({"name":"a\n\u001b[2J\u007f \u009b \u202e größe"})");
  EXPECT_EQ(read_json<json>(text, {1000}, "it").value()["name"], name);
}

TEST(JsonTextTest, KeepsTheLinesOfItsLayout) {
  EXPECT_EQ(json_text(json{{"a", "\xe2\x80\xa8"}}, /*indent=*/2), "{\n  \"a\": \"\\u2028\"\n}");
}

TEST(JsonTextTest, BytesThatAreNoUtf8DoNotBreakIt) {
  EXPECT_EQ(json_text(json("\xff")), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace vmnuma::text
