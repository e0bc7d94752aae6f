// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_policy.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Settings = std::vector<PolicySetting>;

constexpr const char* kOurs = "xmlns:vmnuma='https://vmnuma.org/policy/1.0'";

Settings settings_in(const std::string& metadata, const std::string& declared = "") {
  pugi::xml_document document;
  const std::string xml = "<domain " + declared + "><metadata>" + metadata + "</metadata></domain>";
  EXPECT_TRUE(document.load_string(xml.c_str())) << xml;
  return policy_settings_of(document.document_element());
}

TEST(DomainPolicyTest, EveryAttributeIsASetting) {
  EXPECT_EQ(
      settings_in("<vmnuma:policy " + std::string(kOurs) + " nodes='0-1' colour='a &amp; b'/>"),
      (Settings{{"nodes", "0-1"}, {"colour", "a & b"}}));
}

TEST(DomainPolicyTest, TheNamespaceCountsAndNotThePrefix) {
  EXPECT_THAT(settings_in("<p:policy xmlns:p='https://vmnuma.org/policy/1.0' nodes='0'/>"),
              SizeIs(1));
  EXPECT_THAT(settings_in("<policy xmlns='https://vmnuma.org/policy/1.0' nodes='0'/>"), SizeIs(1));
  EXPECT_THAT(settings_in("<vmnuma:policy nodes='0'/>", kOurs), SizeIs(1));
  EXPECT_THAT(settings_in("<vmnuma:policy xmlns:vmnuma='https://example.org/' nodes='0'/>"),
              IsEmpty());
  EXPECT_THAT(
      settings_in("<vmnuma:policy xmlns:vmnuma='https://vmnuma.org/policy/2.0' nodes='0'/>"),
      IsEmpty());
  EXPECT_THAT(settings_in("<policy nodes='0'/>", kOurs), IsEmpty());
}

TEST(DomainPolicyTest, NothingOfOurNamespaceIsSilentlyIgnored) {
  const std::string ours(kOurs);
  EXPECT_THAT(settings_in("<vmnuma:polcy " + ours + " nodes='0'/>"),
              ElementsAre(PolicySetting{"<vmnuma:polcy>", ""}));
  EXPECT_THAT(
      settings_in("<vmnuma:policy " + ours + "><vmnuma:nodes>0</vmnuma:nodes></vmnuma:policy>"),
      ElementsAre(PolicySetting{"<vmnuma:nodes>", ""}));
  EXPECT_THAT(settings_in("<vmnuma:policy " + ours + ">nodes=0</vmnuma:policy>"),
              ElementsAre(PolicySetting{"text", ""}));
}

TEST(DomainPolicyTest, WithoutAPolicyThereAreNoSettings) {
  EXPECT_THAT(settings_in(""), IsEmpty());
  EXPECT_THAT(settings_in("<vmnuma:policy " + std::string(kOurs) + "/>"), IsEmpty());
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string("<domain/>"));
  EXPECT_THAT(policy_settings_of(document.document_element()), IsEmpty());
}

TEST(DomainPolicyTest, WhatAMadeUpPolicyCostsIsBounded) {
  std::string attributes;
  for (int i = 0; i < 1000; ++i) {
    attributes += " a" + std::to_string(i) + "='" + std::string(10'000, 'x') + "'";
  }
  const Settings settings = settings_in("<vmnuma:policy " + std::string(kOurs) + attributes + "/>");
  EXPECT_THAT(settings, SizeIs(64));
  EXPECT_THAT(settings.front().value, SizeIs(4097));
}

TEST(DomainPolicyTest, WhatIsWrittenIsReadAgain) {
  const Settings settings{{"nodes", "0,3"}, {"affinity_group", "a <b> & \"c\" 'd' ä"}};
  std::string element = policy_element(settings);
  // As libvirt adds them.
  element.replace(0, 7, "<vmnuma:policy " + std::string(kOurs));
  EXPECT_EQ(settings_in(element), settings);
  EXPECT_EQ(policy_element({}), "<policy/>");
}

}  // namespace
}  // namespace vmnuma::balancer
