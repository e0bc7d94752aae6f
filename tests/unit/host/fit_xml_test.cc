// SPDX-License-Identifier: Apache-2.0
/// What becomes of single elements. Whole documents are in tests/golden/fit_xml.
#include "balancer/host/fit_xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// CPUs 0-3 and 8; nodes 0 and 2 have memory.
const HostSets kHost{{CpuId{0}, CpuId{1}, CpuId{2}, CpuId{3}, CpuId{8}}, {NodeId{0}, NodeId{2}}};

std::string domain_with(const std::string& body) {
  return "<domain type='kvm'>" + body + "</domain>";
}

/// What becomes of what is inside <domain>; "as it is" if nothing.
std::string fitted(const std::string& body) {
  const auto result = fit_xml(domain_with(body), kHost);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  if (!result || !*result) {
    return "as it is";
  }
  const std::string& xml = (*result)->xml;
  const std::string before = "<domain type='kvm'>";
  const std::string after = "</domain>";
  EXPECT_TRUE(xml.starts_with(before) && xml.ends_with(after)) << xml;
  return xml.substr(before.size(), xml.size() - before.size() - after.size());
}

std::string refusal(const std::string& xml) {
  const auto result = fit_xml(xml, kHost);
  return result ? "accepted" : result.error().message;
}

TEST(FitXmlTest, WhatFitsIsLeft) {
  for (const char* body :
       {"", "<vcpu placement='auto'>2</vcpu>", "<vcpu cpuset='0-3,8'>2</vcpu>",
        "<cputune><vcpupin vcpu='0' cpuset='8'/><emulatorpin cpuset='1'/></cputune>",
        "<numatune><memory mode='strict' nodeset='0,2'/></numatune>",
        "<numatune><memory mode='strict' placement='auto'/></numatune>",
        "<devices><memory "
        "model='dimm'><source><nodemask>2</nodemask></source></memory></devices>"}) {
    EXPECT_EQ(fitted(body), "as it is") << body;
  }
}

TEST(FitXmlTest, ASetWithExclusionsThatFitsIsLeftAsItIsWritten) {
  EXPECT_EQ(fitted("<vcpu cpuset='0-4,^4'>2</vcpu>"), "as it is");
  EXPECT_EQ(fitted("<numatune><memory mode='strict' nodeset='0-2,^1'/></numatune>"), "as it is");
  EXPECT_EQ(fitted("<vcpu cpuset='0-5,^1'>2</vcpu>"), "<vcpu cpuset='0,2-3'>2</vcpu>");
}

TEST(FitXmlTest, TheGuestsOwnNumbersAreLeft) {
  for (const char* body :
       {"<memoryBacking><hugepages><page size='2' unit='M' "
        "nodeset='5'/></hugepages></memoryBacking>",
        "<cpu><numa><cell id='7' cpus='40-47' memory='1'/></numa></cpu>",
        "<cputune><vcpusched vcpus='40' scheduler='fifo' priority='1'/>"
        "<cachetune vcpus='40'/></cputune>",
        "<devices><memory model='dimm'><target><node>5</node></target></memory></devices>"}) {
    EXPECT_EQ(fitted(body), "as it is") << body;
  }
}

TEST(FitXmlTest, SetsAreCutToWhatIsHere) {
  EXPECT_EQ(fitted("<vcpu cpuset='2-9'>2</vcpu>"), "<vcpu cpuset='2-3,8'>2</vcpu>");
  EXPECT_EQ(fitted("<cputune><vcpupin vcpu='0' cpuset='3-4'/><emulatorpin cpuset='0-63'/>"
                   "<iothreadpin iothread='1' cpuset='7-8'/></cputune>"),
            "<cputune><vcpupin vcpu='0' cpuset='3'/><emulatorpin cpuset='0-3,8'/>"
            "<iothreadpin iothread='1' cpuset='8'/></cputune>");
  EXPECT_EQ(fitted("<numatune><memory mode='interleave' nodeset='0-3'/>"
                   "<memnode cellid='0' mode='strict' nodeset='1-2'/></numatune>"),
            "<numatune><memory mode='interleave' nodeset='0,2'/>"
            "<memnode cellid='0' mode='strict' nodeset='2'/></numatune>");
  EXPECT_EQ(fitted("<devices><memory><source><nodemask>1-2</nodemask></source></memory></devices>"),
            "<devices><memory><source><nodemask>2</nodemask></source></memory></devices>");
}

TEST(FitXmlTest, SetsOfWhichNothingIsHereGoAway) {
  EXPECT_EQ(fitted("<vcpu placement='static' cpuset='4-7'>2</vcpu>"),
            "<vcpu placement='static'>2</vcpu>");
  EXPECT_EQ(fitted("<cputune><shares>5</shares><vcpupin vcpu='0' cpuset='4'/>"
                   "<vcpupin vcpu='1' cpuset='1'/><emulatorpin cpuset='5'/>"
                   "<iothreadpin iothread='1' cpuset='9'/></cputune>"),
            "<cputune><shares>5</shares><vcpupin vcpu='1' cpuset='1'/></cputune>");
  EXPECT_EQ(fitted("<numatune><memnode cellid='0' mode='strict' nodeset='1'/></numatune>"),
            "<numatune/>");
  EXPECT_EQ(fitted("<devices><memory><source><pagesize>4</pagesize><nodemask>1</nodemask></source>"
                   "</memory></devices>"),
            "<devices><memory><source><pagesize>4</pagesize></source></memory></devices>");
}

TEST(FitXmlTest, MemoryThatWasBoundToOtherNodesMayBeAnywhere) {
  EXPECT_EQ(fitted("<numatune><memory mode='strict' nodeset='1,3'/></numatune>"),
            "<numatune><memory mode='strict' nodeset='0,2'/></numatune>");
}

TEST(FitXmlTest, ALineThatGoesAwayTakesItsBlanksAlong) {
  EXPECT_EQ(fitted("\n  <cputune>\n    <vcpupin vcpu='0' cpuset='4'/>\n"
                   "    <vcpupin vcpu='1' cpuset='1'/>\n  </cputune>\n"),
            "\n  <cputune>\n    <vcpupin vcpu='1' cpuset='1'/>\n  </cputune>\n");
}

TEST(FitXmlTest, EverythingElseComesOutAsItWentIn) {
  const std::string rest =
      "<!-- a comment --><name>a&amp;b&lt;&gt; 'x' \xc3\xa4</name>\n<metadata>"
      "<x:y xmlns:x='http://x/?a=1&amp;b' z='&quot;&apos;'>\t two  blanks </x:y>"
      "<![CDATA[<raw>&]]></metadata><qemu:commandline/>";
  const std::string out = fitted("<vcpu cpuset='9'>1</vcpu>" + rest);
  EXPECT_THAT(out, HasSubstr("<!-- a comment -->"));
  EXPECT_THAT(out, HasSubstr("<name>a&amp;b&lt;&gt; 'x' \xc3\xa4</name>\n<metadata>"));
  EXPECT_THAT(out, HasSubstr("z='\"&apos;'>\t two  blanks </x:y><![CDATA[<raw>&]]></metadata>"));
}

TEST(FitXmlTest, SaysWhatItChanged) {
  const auto result = fit_xml(
      domain_with("<vcpu cpuset='2-9'>2</vcpu><cputune><vcpupin vcpu='0' cpuset='4-5'/></cputune>"),
      kHost);
  ASSERT_TRUE(result && *result);
  EXPECT_THAT((*result)->changes, ElementsAre("<vcpu> cpuset: CPUs 2-3,8 instead of 2-9",
                                              "<vcpupin vcpu='0'>: this host has none of the CPUs "
                                              "4-5, so this restriction is removed"));
}

TEST(FitXmlTest, WhatItDoesNotUnderstandItDoesNotTouch) {
  EXPECT_THAT(refusal(""), HasSubstr("not XML"));
  EXPECT_THAT(refusal("<network/>"), HasSubstr("<network>"));
  EXPECT_THAT(refusal(domain_with("<vcpu cpuset='0-3,^1-2'>2</vcpu>")), HasSubstr("0-3,^1-2"));
  EXPECT_THAT(refusal(domain_with("<cputune><vcpupin vcpu='0' cpuset='all'/></cputune>")),
              HasSubstr("all"));
  EXPECT_THAT(refusal(domain_with("<vcpu cpuset='99999'>2</vcpu>")), HasSubstr("99999"));
}

}  // namespace
}  // namespace vmnuma::balancer
