// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "balancer/host/domain_metadata.h"

namespace vmnuma::balancer {
namespace {

constexpr const char* kNamespace = "http://libosinfo.org/xmlns/libvirt/domain/1.0";

std::string guest_os_in(const std::string& metadata) {
  pugi::xml_document document;
  const std::string xml = "<domain><metadata>" + metadata + "</metadata></domain>";
  EXPECT_TRUE(document.load_string(xml.c_str())) << xml;
  return guest_os_of(document.document_element());
}

std::string with_id(const std::string& id, const std::string& prefix = "libosinfo",
                    const std::string& of = kNamespace) {
  return "<" + prefix + ":libosinfo xmlns:" + prefix + "='" + of + "'><" + prefix + ":os id='" +
         id + "'/></" + prefix + ":libosinfo>";
}

TEST(DomainGuestOsTest, IsWhatVirtInstallLeavesInTheMetadata) {
  EXPECT_EQ(guest_os_in(with_id("http://debian.org/debian/12")), "http://debian.org/debian/12");
  EXPECT_EQ(guest_os_in("<x:a xmlns:x='x'/>" + with_id("http://microsoft.com/win/2k22", "o")),
            "http://microsoft.com/win/2k22");
}

TEST(DomainGuestOsTest, IsEmptyWhereItIsNotSaid) {
  EXPECT_EQ(guest_os_in(""), "");
  EXPECT_EQ(guest_os_in(with_id("a", "libosinfo", "http://libosinfo.org/other")), "");
  EXPECT_EQ(guest_os_in("<libosinfo xmlns='" + std::string(kNamespace) + "'/>"), "");
  EXPECT_EQ(guest_os_in("<os id='a'/>"), "");
  pugi::xml_document document;
  document.load_string("<domain/>");
  EXPECT_EQ(guest_os_of(document.document_element()), "");
}

TEST(DomainGuestOsTest, WhatCannotBeAnIdIsNone) {
  EXPECT_EQ(guest_os_in(with_id(std::string(255, 'x'))), std::string(255, 'x'));
  EXPECT_EQ(guest_os_in(with_id(std::string(256, 'x'))), "");
}

}  // namespace
}  // namespace vmnuma::balancer
