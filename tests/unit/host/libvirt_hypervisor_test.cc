// SPDX-License-Identifier: Apache-2.0
/// Its own promises, over libvirt's test driver. What the port promises is in
/// tests/contract.
#include "balancer/host/libvirt_hypervisor.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libvirt/libvirt.h>

#include "balancer/host/handles.h"
#include "tests/support/wake_up.h"

namespace vmnuma::balancer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kUri = "test:///default";
constexpr std::chrono::seconds kLimit{30};

class LibvirtHypervisorTest : public testing::Test {
 protected:
  LibvirtHypervisorTest() : loop_(std::move(*EventLoop::start())) {
    // Keeps the driver's state alive between the connections of a test.
    administrator_.reset(virConnectOpen(kUri));
  }

  std::unique_ptr<LibvirtHypervisor> inventory() {
    return std::make_unique<LibvirtHypervisor>(
        loop_, LibvirtOptions{.uri = kUri, .default_huge_page_size = kMiB * 2},
        [this] { dirty_.notify(); });
  }

  DomainHandle start(const std::string& name, int vcpus) {
    const std::string xml = fmt::format(
        "<domain type='test'><name>{}</name><memory>65536</memory><vcpu current='1'>{}</vcpu>"
        "<os><type>hvm</type></os></domain>",
        name, vcpus);
    return DomainHandle(virDomainCreateXML(administrator_.get(), xml.c_str(), /*flags=*/0));
  }

  static std::vector<std::string> names(const std::vector<VmDescription>& vms) {
    std::vector<std::string> names;
    for (const VmDescription& vm : vms) {
      names.push_back(vm.name);
    }
    return names;
  }

  tests::WakeUp dirty_;
  std::shared_ptr<EventLoop> loop_;
  ConnectionHandle administrator_;
};

TEST_F(LibvirtHypervisorTest, OpensNothingBeforeTheFirstRefresh) {
  const auto inventory = this->inventory();
  const DomainHandle vm = start("early", 1);
  const auto vms = inventory->refresh();
  ASSERT_TRUE(vms.has_value()) << vms.error().message;
  EXPECT_THAT(names(*vms), testing::Contains("early"));
  EXPECT_EQ(dirty_.total(), 0);
}

TEST_F(LibvirtHypervisorTest, AnnouncesAnEventOnceUntilTheNextRefresh) {
  const auto inventory = this->inventory();
  ASSERT_TRUE(inventory->refresh().has_value());

  const DomainHandle a = start("a", 1);
  ASSERT_TRUE(dirty_.wait(kLimit));
  inventory->mark_dirty(VmId{});
  const DomainHandle b = start("b", 1);
  EXPECT_EQ(dirty_.total(), 1);

  ASSERT_TRUE(inventory->refresh().has_value());
  inventory->mark_dirty(VmId{});
  EXPECT_TRUE(dirty_.wait(kLimit));
}

TEST_F(LibvirtHypervisorTest, SeesMetadataChanges) {
  const auto inventory = this->inventory();
  const DomainHandle vm = start("web1", 1);
  ASSERT_TRUE(inventory->refresh().has_value());

  ASSERT_EQ(virDomainSetMetadata(vm.get(), VIR_DOMAIN_METADATA_ELEMENT, "<policy/>", "p",
                                 "https://example.org/p", VIR_DOMAIN_AFFECT_CURRENT),
            0);

  EXPECT_TRUE(dirty_.wait(kLimit));
  EXPECT_TRUE(inventory->refresh().has_value());
}

TEST_F(LibvirtHypervisorTest, AMarkedVmIsReadAgain) {
  const auto inventory = this->inventory();
  const DomainHandle vm = start("web1", 4);
  ASSERT_TRUE(inventory->refresh().has_value());
  ASSERT_EQ(virDomainSetVcpusFlags(vm.get(), 3, VIR_DOMAIN_AFFECT_LIVE), 0);  // no event
  VmId id;
  ASSERT_EQ(virDomainGetUUID(vm.get(), id.uuid.data()), 0);

  inventory->mark_dirty(id);

  const auto vms = inventory->refresh();
  ASSERT_TRUE(vms.has_value());
  const auto found = std::find_if(vms->begin(), vms->end(),
                                  [&](const VmDescription& one) { return one.id == id; });
  ASSERT_NE(found, vms->end());
  EXPECT_EQ(found->vcpus.size(), 3U);
}

TEST_F(LibvirtHypervisorTest, AMarkForAVmThatNeverWasIsForgotten) {
  const auto inventory = this->inventory();
  ASSERT_TRUE(inventory->refresh().has_value());
  inventory->mark_dirty(VmId{{0xde, 0xad}});
  EXPECT_TRUE(inventory->refresh().has_value());
  EXPECT_THAT(inventory->take_notices(), IsEmpty());
}

TEST_F(LibvirtHypervisorTest, AVmThatCannotBeReadIsToldOnceAndHidesNoOther) {
  const auto inventory = this->inventory();
  const DomainHandle good = start("good", 1);
  const DomainHandle bad = start("bad", 5000);  // more vCPUs than any VM can have
  ASSERT_NE(bad, nullptr);

  for (int i = 0; i < 2; ++i) {  // and it stays one
    const auto vms = inventory->refresh();
    ASSERT_TRUE(vms.has_value()) << vms.error().message;
    EXPECT_THAT(names(*vms), testing::Contains("good"));
    EXPECT_THAT(names(*vms), testing::Not(testing::Contains("bad")));
    EXPECT_THAT(inventory->take_notices(),
                testing::Conditional(i == 0,
                                     testing::ElementsAre(testing::AllOf(
                                         HasSubstr("'bad'"), HasSubstr("it is not managed"))),
                                     IsEmpty()));
    EXPECT_THAT(inventory->unreadable(), testing::SizeIs(1));
  }

  ASSERT_EQ(virDomainDestroy(bad.get()), 0);
  ASSERT_TRUE(inventory->refresh().has_value());
  EXPECT_THAT(inventory->unreadable(), IsEmpty());
  EXPECT_THAT(inventory->take_notices(), IsEmpty());
}

TEST_F(LibvirtHypervisorTest, AVmThatStoppedIsForgottenEvenIfItsDefinitionCannotBeRead) {
  const auto inventory = this->inventory();
  const DomainHandle vm = start("web1", 1);
  char uuid[VIR_UUID_STRING_BUFLEN];
  ASSERT_EQ(virDomainGetUUIDString(vm.get(), uuid), 0);
  const std::string next = fmt::format(
      "<domain type='test'><name>web1</name><uuid>{}</uuid><memory>65536</memory>"
      "<vcpu>5000</vcpu><os><type>hvm</type></os></domain>",  // more than any VM can have
      uuid);
  ASSERT_NE(DomainHandle(virDomainDefineXML(administrator_.get(), next.c_str())), nullptr);
  const auto running = inventory->refresh();
  ASSERT_TRUE(running.has_value());
  ASSERT_THAT(names(*running), testing::Contains("web1"));

  ASSERT_EQ(virDomainDestroy(vm.get()), 0);
  VmId id;
  ASSERT_EQ(virDomainGetUUID(vm.get(), id.uuid.data()), 0);
  inventory->mark_dirty(id);
  const auto left = inventory->refresh();

  ASSERT_TRUE(left.has_value());
  EXPECT_THAT(names(*left), testing::Not(testing::Contains("web1")));
  EXPECT_THAT(inventory->take_notices(), IsEmpty());
  EXPECT_EQ(virDomainUndefine(vm.get()), 0);
}

TEST_F(LibvirtHypervisorTest, IsSilentAfterItsEnd) {
  auto inventory = this->inventory();
  ASSERT_TRUE(inventory->refresh().has_value());
  inventory.reset();

  // A second inventory hears the event; when it has, the first one would have too.
  const auto witness = this->inventory();
  ASSERT_TRUE(witness->refresh().has_value());
  const DomainHandle vm = start("late", 1);
  ASSERT_TRUE(dirty_.wait(kLimit));
  EXPECT_EQ(dirty_.total(), 1);
}

TEST_F(LibvirtHypervisorTest, AUriThatCanNeverWorkIsSaidToBeSo) {
  LibvirtHypervisor inventory(loop_, {.uri = "qemu:///session", .default_huge_page_size = {}},
                              [] {});
  const auto vms = inventory.refresh();
  ASSERT_FALSE(vms.has_value());
  EXPECT_EQ(vms.error().code, ErrorCode::kUnsupported);
}

TEST_F(LibvirtHypervisorTest, IsUnavailableWhileNoDaemonRuns) {
  LibvirtHypervisor inventory(
      loop_, {.uri = "qemu:///system?socket=/nonexistent/sock", .default_huge_page_size = {}},
      [] {});
  for (int i = 0; i < 2; ++i) {
    const auto vms = inventory.refresh();
    ASSERT_FALSE(vms.has_value());
    EXPECT_EQ(vms.error().code, ErrorCode::kUnavailable);
  }
}

}  // namespace
}  // namespace vmnuma::balancer
