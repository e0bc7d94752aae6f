// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/vm_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

balancer::HostView host_with(std::vector<balancer::AdviceView> advice) {
  balancer::HostView host;
  host.vms_known = true;
  host.vms.emplace_back();
  host.vms[0].vm = "web1";
  host.vms[0].advice = std::move(advice);
  return host;
}

TEST(VmChecksTest, OneFindingForEachThingThatHurts) {
  const auto findings = check_definitions(host_with(
      {{"no-cells", "the guest sees one node", true}, {"memory-stays", "it is locked", false}}));
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].what, "VM 'web1', no-cells: the guest sees one node");
  EXPECT_FALSE(findings[0].mend.empty());
  EXPECT_EQ(findings[1].severity, Severity::kNote);
}

TEST(VmChecksTest, SaysThatNothingHurts) {
  const auto findings = check_definitions(host_with({}));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, Severity::kOk);
}

TEST(VmChecksTest, SaysNothingOfWhatIsNotKnown) {
  EXPECT_THAT(check_definitions(failure(ErrorCode::kUnavailable, "no daemon")), IsEmpty());
  EXPECT_THAT(check_definitions(balancer::HostView{}), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::tools
