// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/pages.h"

#include <array>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/views.h"
#include "tools/exporter/gzip.h"
#include "tools/exporter/page_files.h"

namespace vmnuma::tools {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Reading page_reading() {
  Reading reading;
  reading.views = Views{tests::status_view(), tests::host_view(), R"({"mode":"active"})",
                        R"({"epoch":7})", "null"};
  reading.time_unix_ms = 1738324800000;
  return reading;
}

/// The paths that a file of the dashboard asks for: href="/x", src="/x", from "./x".
std::set<std::string> references(std::string_view text) {
  constexpr std::array<std::string_view, 3> kBefore{"href=\"", "src=\"", "from \"."};
  std::set<std::string> paths;
  for (const std::string_view before : kBefore) {
    for (auto at = text.find(before); at != std::string_view::npos; at = text.find(before, at)) {
      at += before.size();
      const std::string_view path = text.substr(at, text.find('"', at) - at);
      if (!path.starts_with('#')) {
        paths.emplace(path);
      }
    }
  }
  return paths;
}

TEST(PagesTest, ServesTheDashboardWithAllItNeeds) {
  const Pages pages(/*only_local=*/true);
  const HttpResponse page = pages.answer({"/", "localhost"});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(*page.body, StartsWith("<!doctype html>"));
  EXPECT_THAT(references(*page.body), ::testing::Contains("/app.js"));
  // Everything that the files refer to is served, and nothing lies elsewhere.
  for (const PageFile& file : page_files()) {
    for (const std::string& path : references(file.text)) {
      EXPECT_EQ(pages.answer({path, ""}).status, 200) << file.path << " needs " << path;
    }
  }
}

TEST(PagesTest, TheDashboardIsMarkupScriptAndStyleOfItsOwn) {
  for (const PageFile& file : page_files()) {
    const std::string text(file.text);
    // The policy that is sent along forbids these, so they would not work.
    EXPECT_THAT(text, Not(HasSubstr("innerHTML"))) << file.path;
    EXPECT_THAT(text, Not(HasSubstr(" style=\""))) << file.path;
    EXPECT_THAT(text, Not(HasSubstr(" onclick="))) << file.path;
    EXPECT_THAT(text, Not(HasSubstr("https://"))) << file.path;
    EXPECT_FALSE(file.content_type.empty());
  }
}

TEST(PagesTest, MetricsAndStateAreThoseOfTheLastReading) {
  Pages pages(/*only_local=*/true);
  EXPECT_THAT(*pages.answer({"/metrics", ""}).body, HasSubstr("\nvmnuma_up 0\n"));
  pages.show(page_reading());
  const HttpResponse metrics = pages.answer({"/metrics", "127.0.0.1"});
  EXPECT_EQ(metrics.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(*metrics.body, HasSubstr("\nvmnuma_up 1\n"));
  const Json state = Json::parse(*pages.answer({"/api/state", ""}).body);
  EXPECT_EQ(state["up"], true);
  EXPECT_EQ(state["status"]["mode"], "active");
  EXPECT_EQ(state["host"]["epoch"], 7);
  EXPECT_EQ(state["history"], nullptr);
  EXPECT_EQ(Json::parse(*pages.answer({"/api/past", ""}).body)["times"].size(), 1U);
}

TEST(PagesTest, TextsAreMadeOnceAReading) {
  const Pages pages(/*only_local=*/true);
  EXPECT_EQ(pages.answer({"/metrics", ""}).body, pages.answer({"/metrics", ""}).body);
}

TEST(PagesTest, WithoutTheDaemonTheReasonIsTold) {
  Pages pages(/*only_local=*/true);
  Reading none;
  none.problem = "cannot connect to '\xff'";
  none.time_unix_ms = 1;
  pages.show(none);
  const HttpResponse answer = pages.answer({"/api/state", ""});
  EXPECT_EQ(answer.status, 200);
  const Json state = Json::parse(*answer.body);
  EXPECT_EQ(state["up"], false);
  EXPECT_THAT(state["problem"].get<std::string>(), StartsWith("cannot connect"));
  EXPECT_FALSE(state.contains("host"));
}

TEST(PagesTest, AClientThatTakesGzipGetsTheSamePacked) {
  const Pages pages(/*only_local=*/true);
  for (const char* path : {"/", "/metrics", "/api/state"}) {
    const HttpResponse plain = pages.answer({path, ""});
    const HttpResponse packed = pages.answer({path, "", false, /*takes_gzip=*/true});
    EXPECT_FALSE(plain.is_gzip);
    EXPECT_TRUE(packed.is_gzip);
    EXPECT_EQ(packed.content_type, plain.content_type);
    EXPECT_EQ(*packed.body, gzip(*plain.body));
    // Packed once.
    EXPECT_EQ(pages.answer({path, "", false, true}).body, packed.body);
  }
}

TEST(PagesTest, IsReadyOnceTheDaemonHasMeasured) {
  Pages pages(/*only_local=*/true);
  EXPECT_EQ(pages.answer({"/healthz", ""}).status, 200);
  EXPECT_EQ(pages.answer({"/readyz", ""}).status, 503);
  Reading early = page_reading();
  early.views->host.epoch = 0;
  pages.show(early);
  EXPECT_THAT(*pages.answer({"/readyz", ""}).body, HasSubstr("not measured an epoch yet"));
  pages.show(page_reading());
  EXPECT_EQ(pages.answer({"/readyz", ""}).status, 200);
  Reading none;
  none.problem = "cannot connect";
  pages.show(none);
  EXPECT_EQ(pages.answer({"/readyz", ""}).status, 503);
  EXPECT_EQ(*pages.answer({"/readyz", ""}).body, "cannot connect\n");
  EXPECT_EQ(pages.answer({"/healthz", ""}).status, 200);
}

TEST(PagesTest, AVmIsExplainedInTheReadingAfterARequest) {
  const std::string uuid = "c7a5fdbd-edaf-9455-926a-d65c16db1809";
  Pages pages(/*only_local=*/true);
  EXPECT_TRUE(pages.wanted().empty());
  EXPECT_EQ(*pages.answer({"/api/vm/" + uuid, ""}).body, R"({"pending":true})");
  EXPECT_THAT(pages.wanted(), ::testing::ElementsAre(uuid));
  Reading explained = page_reading();
  explained.views->explained[uuid] = R"({"explain":{}})";
  pages.show(explained);
  EXPECT_EQ(*pages.answer({"/api/vm/" + uuid, ""}).body, R"({"explain":{}})");
  for (int i = 0; i < Pages::kWantedFor; ++i) {  // no request any more
    EXPECT_THAT(pages.wanted(), ::testing::ElementsAre(uuid));
    pages.show(explained);
  }
  EXPECT_TRUE(pages.wanted().empty());
}

TEST(PagesTest, NoMoreVmsAreExplainedThanTheDaemonIsToBeAsked) {
  const Pages pages(/*only_local=*/true);
  for (char c = '0'; c <= '9'; ++c) {
    (void)pages.answer({"/api/vm/c7a5fdbd-edaf-9455-926a-d65c16db180" + std::string(1, c), ""});
  }
  EXPECT_EQ(pages.wanted().size(), Pages::kMostWanted);
  EXPECT_EQ(pages.answer({"/api/vm/nobody", ""}).status, 404);
}

TEST(PagesTest, ThereIsNothingElse) {
  const Pages pages(/*only_local=*/true);
  for (const char* path : {"/x", "/metrics/", "/index.html", "//", "/../etc/passwd", "/api", ""}) {
    EXPECT_EQ(pages.answer({path, ""}).status, 404) << path;
  }
}

TEST(PagesTest, NamesOfOtherHostsAreRefusedWhereOnlyThisOneMayAsk) {
  const Pages local(/*only_local=*/true);
  const Pages open(/*only_local=*/false);
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1"}) {
    EXPECT_EQ(local.answer({"/metrics", host}).status, 421) << host;
    EXPECT_EQ(open.answer({"/metrics", host}).status, 200) << host;
  }
  for (const char* host : {"", "localhost", "127.0.0.1", "127.1.2.3", "[::1]"}) {
    EXPECT_EQ(local.answer({"/metrics", host}).status, 200) << host;
  }
}

TEST(PagesTest, KnowsALoopbackAddress) {
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
  EXPECT_FALSE(is_loopback("::"));
  EXPECT_FALSE(is_loopback("192.168.0.1"));
}

}  // namespace
}  // namespace vmnuma::tools
