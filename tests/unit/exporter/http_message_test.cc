// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/http_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

int status_of(const std::string& head) {
  const auto request = parse_http_head(head);
  return request ? 200 : request.error();
}

TEST(HttpMessageTest, ReadsPathAndHost) {
  const auto request = parse_http_head(
      "GET /metrics?x=1 HTTP/1.1\r\nUser-Agent: a b\r\nHOST:  localhost:9721 \r\nAccept: */*");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->path, "/metrics");
  EXPECT_EQ(request->host, "localhost");
}

TEST(HttpMessageTest, TakesThePortOffIpv6Addresses) {
  const auto request = parse_http_head("GET / HTTP/1.1\r\nHost: [::1]:9721");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->host, "[::1]");
}

TEST(HttpMessageTest, LineFeedsAloneAndOldVersionsWillDo) {
  EXPECT_EQ(status_of("GET / HTTP/1.0"), 200);
  EXPECT_EQ(status_of("GET / HTTP/1.1\nHost: x"), 200);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0"), 200);
}

TEST(HttpMessageTest, OnlyGetIsAllowed) {
  for (const char* method : {"POST", "PUT", "DELETE", "HEAD", "OPTIONS", "get", "X"}) {
    EXPECT_EQ(status_of(std::string(method) + " / HTTP/1.1\r\nHost: x"), 405) << method;
  }
}

TEST(HttpMessageTest, EverythingElseIsNamedForWhatItIs) {
  EXPECT_EQ(status_of(""), 400);
  EXPECT_EQ(status_of("GET"), 400);
  EXPECT_EQ(status_of("GET /"), 400);
  EXPECT_EQ(status_of("GET  HTTP/1.1"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1"), 400);  // without a Host
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a b"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nno colon"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n folded: b"), 400);
  EXPECT_EQ(status_of("GET / x HTTP/1.1\r\nHost: a"), 400);
  EXPECT_EQ(status_of("GET http://a/ HTTP/1.1\r\nHost: a"), 400);
  EXPECT_EQ(status_of("GET /\x01 HTTP/1.1\r\nHost: a"), 400);
  EXPECT_EQ(status_of("G\xc3\xa4T / HTTP/1.1\r\nHost: a"), 400);
  EXPECT_EQ(status_of("GET / HTTP/2"), 505);
  EXPECT_EQ(status_of("GET / SPDY"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5"), 413);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked"), 413);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue"), 417);
}

TEST(HttpMessageTest, EveryHeadGetsAnAnswerWhateverIsInIt) {
  // A walk through all two-byte beginnings, and through a good head with each byte replaced.
  const std::string good = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*";
  for (int byte = 0; byte < 256; ++byte) {
    (void)status_of(std::string(1, static_cast<char>(byte)));
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string changed = good;
      changed[at] = static_cast<char>(byte);
      const int status = status_of(changed);
      EXPECT_TRUE(status == 200 || http_reason(status) != "Unknown") << status;
    }
  }
}

TEST(HttpMessageTest, ResponsesKeepBrowsersFromDoingMore) {
  const std::string head = http_head(HttpResponse::of(200, "abc"));
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nContent-Length: 3\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nContent-Security-Policy: default-src 'none'; "));
  EXPECT_THAT(head, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nX-Frame-Options: DENY\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nReferrer-Policy: no-referrer\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nCache-Control: no-store\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("unsafe")));
  EXPECT_THAT(head, Not(HasSubstr("Allow")));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  EXPECT_THAT(http_head(HttpResponse::of(405, "")), HasSubstr("\r\nAllow: GET\r\n"));
}

}  // namespace
}  // namespace vmnuma::tools
