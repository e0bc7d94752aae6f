// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/http_message.h"

#include <algorithm>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

HttpHead get(std::string_view target) {
  return {.method = "GET", .target = target, .hosts = {"localhost:9721"}};
}

int status_of(const HttpHead& head) {
  const auto request = understand(head);
  return request ? 200 : request.error();
}

TEST(HttpMessageTest, TakesPathAndHost) {
  const auto request = understand(get("/metrics?x=1"));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->path, "/metrics");
  EXPECT_EQ(request->host, "localhost");
  EXPECT_FALSE(request->head_only);
}

TEST(HttpMessageTest, TakesThePortOffIpv6Addresses) {
  HttpHead head = get("/");
  head.hosts = {"[::1]:9721"};
  EXPECT_EQ(understand(head)->host, "[::1]");
}

TEST(HttpMessageTest, TheCaseOfAHostDoesNotMatter) {
  HttpHead head = get("/Metrics");
  head.hosts = {"LocalHost:9721"};
  EXPECT_EQ(understand(head)->host, "localhost");
  EXPECT_EQ(understand(head)->path, "/Metrics");
}

TEST(HttpMessageTest, AWholeUrlIsTakenAsWellAndItsHostCounts) {
  for (const auto& [target, host, path] :
       {std::tuple("http://localhost:9721/metrics?x=1", "localhost", "/metrics"),
        {"HTTP://127.0.0.1/metrics", "127.0.0.1", "/metrics"},
        {"https://[::1]:9721/", "[::1]", "/"},
        {"http://a", "a", "/"},
        {"http://a?x=/y", "a", "/"}}) {
    HttpHead head = get(target);
    head.hosts = {"other"};
    const auto request = understand(head);
    ASSERT_TRUE(request) << target;
    EXPECT_EQ(request->host, host) << target;
    EXPECT_EQ(request->path, path) << target;
  }
  for (const char* target : {"http:///metrics", "http://", "ftp://a/", "://a/", "http:/a",
                             "http://user@a/", "a/http://b", "localhost:9721"}) {
    EXPECT_EQ(status_of(get(target)), 400) << target;
  }
  EXPECT_EQ(understand(get("/x://a"))->path, "/x://a");
}

TEST(HttpMessageTest, OldVersionsNeedNoHost) {
  HttpHead head = get("/");
  head.hosts.clear();
  EXPECT_EQ(status_of(head), 400);
  head.version = 10;
  EXPECT_EQ(status_of(head), 200);
}

TEST(HttpMessageTest, OnlyGetAndHeadAreAllowed) {
  HttpHead head = get("/");
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get", "X", ""}) {
    head.method = method;
    EXPECT_EQ(status_of(head), 405) << method;
  }
  head.method = "HEAD";
  EXPECT_TRUE(understand(head)->head_only);
}

TEST(HttpMessageTest, GzipIsSentToClientsThatTakeIt) {
  HttpHead head = get("/");
  EXPECT_FALSE(understand(head)->takes_gzip);
  for (const char* header : {"gzip", "deflate, gzip;q=0.5", "gzip ; q=0.001,br", "br,gzip"}) {
    head.encodings = {"identity", header};
    EXPECT_TRUE(understand(head)->takes_gzip) << header;
  }
  for (const char* header : {"", "br", "gzip;q=0", "gzip; q=0.000", "xgzip", ",,;"}) {
    head.encodings = {header};
    EXPECT_FALSE(understand(head)->takes_gzip) << header;
  }
  HttpResponse response = HttpResponse::of(200, "x");
  EXPECT_THAT(response_headers(response), Contains(Pair("Vary", "Accept-Encoding")));
  EXPECT_THAT(response_headers(response), Not(Contains(Pair("Content-Encoding", "gzip"))));
  response.is_gzip = true;
  EXPECT_THAT(response_headers(response), Contains(Pair("Content-Encoding", "gzip")));
}

TEST(HttpMessageTest, AClientThatIsNotKnownIsToldHowToAsk) {
  EXPECT_THAT(response_headers(HttpResponse::of(401, "x")),
              Contains(Pair("WWW-Authenticate", HasSubstr("Basic realm="))));
  EXPECT_THAT(response_headers(HttpResponse::of(200, "x")),
              Not(Contains(Pair("WWW-Authenticate", HasSubstr("")))));
}

TEST(HttpMessageTest, EverythingElseIsNamedForWhatItIs) {
  HttpHead head = get("/");
  head.hosts = {"a", "b"};
  EXPECT_EQ(status_of(head), 400);
  head.hosts = {"a b"};
  EXPECT_EQ(status_of(head), 400);
  EXPECT_EQ(status_of(get("*")), 400);
  EXPECT_EQ(status_of(get("/\x01")), 400);
  head = get("/");
  head.has_body = true;
  EXPECT_EQ(status_of(head), 413);
  head = get("/");
  head.expects = true;
  EXPECT_EQ(status_of(head), 417);
}

TEST(HttpMessageTest, ResponsesKeepBrowsersFromDoingMore) {
  const auto headers = response_headers(HttpResponse::of(200, "abc"));
  EXPECT_THAT(headers,
              Contains(Pair("Content-Security-Policy", HasSubstr("default-src 'none'; "))));
  EXPECT_THAT(headers, Contains(Pair("X-Content-Type-Options", "nosniff")));
  EXPECT_THAT(headers, Contains(Pair("X-Frame-Options", "DENY")));
  EXPECT_THAT(headers, Contains(Pair("Referrer-Policy", "no-referrer")));
  EXPECT_THAT(headers, Contains(Pair("Cache-Control", "no-store")));
  EXPECT_THAT(headers, Not(Contains(Pair(testing::_, HasSubstr("unsafe")))));
  EXPECT_THAT(headers, Not(Contains(Pair("Allow", testing::_))));
  EXPECT_THAT(response_headers(HttpResponse::of(405, "")), Contains(Pair("Allow", "GET, HEAD")));
}

}  // namespace
}  // namespace vmnuma::tools
