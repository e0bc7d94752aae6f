// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "balancer/host/domain_metadata.h"

namespace vmnuma::balancer {
namespace {

constexpr const char* kNewer = "http://openstack.org/xmlns/libvirt/nova/1.1";
constexpr const char* kOlder = "http://openstack.org/xmlns/libvirt/nova/1.0";

NovaProject project_in(const std::string& metadata) {
  pugi::xml_document document;
  const std::string xml = "<domain><metadata>" + metadata + "</metadata></domain>";
  EXPECT_TRUE(document.load_string(xml.c_str())) << xml;
  return nova_project_of(document.document_element());
}

std::string instance(const std::string& of, const std::string& owner) {
  return "<nova:instance xmlns:nova='" + of + "'><nova:name>web</nova:name>" + owner +
         "</nova:instance>";
}

std::string owned_by(const std::string& uuid, const std::string& name) {
  return "<nova:owner><nova:user uuid='u1'>alice</nova:user><nova:project uuid='" + uuid + "'>" +
         name + "</nova:project></nova:owner>";
}

TEST(DomainNovaTest, TheProjectIsReadByNameAndUuidInBothNamespaces) {
  for (const char* of : {kNewer, kOlder}) {
    EXPECT_EQ(project_in("<x:a xmlns:x='x'/>" + instance(of, owned_by("83c8", "shop &amp; co"))),
              (NovaProject{"shop & co", "83c8"}));
  }
}

TEST(DomainNovaTest, IsEmptyWhereNovaSaysNothing) {
  EXPECT_EQ(project_in(""), NovaProject{});
  EXPECT_EQ(project_in(instance(kNewer, "")), NovaProject{});
  EXPECT_EQ(project_in(instance(kNewer, "<nova:owner/>")), NovaProject{});
  EXPECT_EQ(project_in(instance("http://openstack.org/other", owned_by("u", "n"))), NovaProject{});
  EXPECT_EQ(project_in("<instance>" + std::string("<owner><project uuid='u'>n</project></owner>") +
                       "</instance>"),
            NovaProject{});
  pugi::xml_document document;
  document.load_string("<domain/>");
  EXPECT_EQ(nova_project_of(document.document_element()), NovaProject{});
}

TEST(DomainNovaTest, WhatIsTooLongIsNoNameAndNoUuid) {
  const std::string longest(255, 'x');
  EXPECT_EQ(project_in(instance(kNewer, owned_by(longest, longest + "x"))),
            (NovaProject{"", longest}));
  EXPECT_EQ(project_in(instance(kNewer, owned_by(longest + "x", longest))),
            (NovaProject{longest, ""}));
}

}  // namespace
}  // namespace vmnuma::balancer
