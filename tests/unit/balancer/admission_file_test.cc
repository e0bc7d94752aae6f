// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/service/admission_keeper.h"
#include "placement/model/text.h"
#include "tests/support/fake_host.h"

namespace vmnuma::balancer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class AdmissionFileTest : public testing::Test {
 protected:
  AdmissionFileTest() { host_.write("proc/sys/kernel/random/boot_id", "9d5f3c1a\n"); }

  [[nodiscard]] AdmissionStamp at(std::int64_t second) const {
    return admission_stamp(host_.path(), second);
  }
  [[nodiscard]] Result<void> keep() const {
    AdmissionState state;
    StartingVm vm;
    vm.description.id = parse_vm_id("c7a5fdbd-edaf-9455-926a-d65c16db1809").value_or(VmId{});
    vm.description.vcpus = {0};
    vm.homes = vm.nodes = {NodeId{1}};
    state.expected.push_back(vm);
    return write_admission(host_.path(), state, at(1000));
  }

  [[nodiscard]] std::vector<StartingVm> expected_at(std::int64_t second) {
    return read_expected_vms(host_.path(), at(second), log_);
  }

  tests::FakeHost host_;
  EventLog log_{Severity::kError, HostTime()};
};

TEST_F(AdmissionFileTest, AVmThatWasExpectedIsExpectedByTheNextDaemon) {
  ASSERT_TRUE(keep());
  const auto expected = expected_at(1010);
  ASSERT_THAT(expected, SizeIs(1));
  EXPECT_EQ(expected.front().homes.front().value, 1);
  EXPECT_FALSE(expected.front().asks);
}

TEST_F(AdmissionFileTest, AFileThatIsOldOrOfAnotherBootBringsNoVmBack) {
  ASSERT_TRUE(keep());
  EXPECT_THAT(expected_at(1001 + kAdmissionFreshFor_s), IsEmpty());
  host_.write("proc/sys/kernel/random/boot_id", "00000000\n");
  EXPECT_THAT(expected_at(1010), IsEmpty());
  host_.remove("proc/sys/kernel/random/boot_id");
  EXPECT_THAT(expected_at(1010), IsEmpty());
}

TEST_F(AdmissionFileTest, WithoutAFileOrWithADamagedOneNoVmIsExpected) {
  EXPECT_THAT(expected_at(1010), IsEmpty());
  EXPECT_THAT(log_.recent().answer({}).events, IsEmpty());
  for (const char* damaged : {"noise", "vmnuma-admission 1\nadmission advise\n", "{}"}) {
    host_.write("admission", damaged);
    EXPECT_THAT(expected_at(1010), IsEmpty());
  }
  EXPECT_FALSE(std::filesystem::exists(host_.path() + "/admission"));
  EXPECT_TRUE(std::filesystem::exists(host_.path() + "/admission.damaged-3"));
  EXPECT_THAT(log_.recent().answer({}).events, SizeIs(3));
  EXPECT_THAT(log_.recent().answer({}).events.front().message,
              HasSubstr("admission' was set aside as '" + host_.path() + "/admission.damaged-1'"));
  EXPECT_FALSE(write_admission(host_.path() + "/nowhere", {}, at(1)));
}

}  // namespace
}  // namespace vmnuma::balancer
