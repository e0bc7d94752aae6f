// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/host_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;

AdviceHost some_host() {
  AdviceHost host{.topology = tests::equal_nodes(2, 4, 2, 64)};
  host.topology.nodes[1].id = {3};
  host.topology.distances = {10, 21, 31, 10};
  host.topology.nodes[0].huge_pages = {{kMiB * 2, 100}, {kGiB, 4}};
  host.free = {kGiB * 3, kGiB * 5};
  host.free_huge_pages = {{{kMiB * 2, 7}, {kGiB, 0}}, {}};
  host.prefer_ht = true;
  return host;
}

std::string error_of(std::string_view text) {
  const auto host = parse_host_file(text, "'h.json'");
  return host ? "" : host.error().message;
}

TEST(HostFileTest, IsReadAsItWasWritten) {
  for (const int indent : {-1, 2}) {
    const auto read = parse_host_file(host_file_text(some_host(), "kvm1", indent), "h");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(*read, some_host());
  }
}

TEST(HostFileTest, LeavesOutWhatIsNotKnown) {
  AdviceHost host = some_host();
  host.free.clear();
  host.free_huge_pages.clear();
  const std::string text = host_file_text(host, "kvm1", -1);
  EXPECT_EQ(text.find("free"), std::string::npos);
  EXPECT_EQ(*parse_host_file(text, "h"), host);
}

TEST(HostFileTest, NamesWhatIsWrong) {
  EXPECT_THAT(error_of("[]"), HasSubstr("'h.json'"));
  EXPECT_THAT(error_of("{}"), HasSubstr("'vmnuma_host' is not a number"));
  EXPECT_THAT(error_of(R"({"vmnuma_host":2,"nodes":[],"distances":[]})"), HasSubstr("version 2"));
  EXPECT_THAT(error_of(R"({"vmnuma_host":1,"nodes":[],"distances":[[10]]})"),
              HasSubstr("a row for each node"));
  EXPECT_THAT(error_of(R"({"vmnuma_host":1,"nodes":[7],"distances":[[10]]})"), HasSubstr("'node'"));
  EXPECT_THAT(error_of(R"({"vmnuma_host":1,"nodes":[],"distances":[[10,20]]})"),
              HasSubstr("is not square"));
  EXPECT_THAT(error_of(R"({"vmnuma_host":1,"nodes":[{"node":0,"socket":0,"memory_bytes":-1,)"
                       R"("cpus":[],"huge_pages":[]}],"distances":[[10]]})"),
              HasSubstr("'memory_bytes'"));
  EXPECT_THAT(error_of(R"({"vmnuma_host":1,"nodes":[{"node":0,"socket":0,"memory_bytes":1,)"
                       R"("cpus":[{"cpu":1,"core":1,"cache":1},{"cpu":1,"core":1,"cache":1}],)"
                       R"("huge_pages":[]}],"distances":[[10]]})"),
              HasSubstr("CPU 1 is listed twice"));
  EXPECT_THAT(error_of(R"({"vmnuma_host":1,"nodes":[{"node":0,"socket":0,"memory_bytes":1,)"
                       R"("cpus":[],"huge_pages":[{"page_bytes":4096,"pages":1},)"
                       R"({"page_bytes":4096,"pages":2}]}],"distances":[[10]]})"),
              HasSubstr("huge pages of 4096 bytes are listed twice"));
}

}  // namespace
}  // namespace vmnuma::tools
