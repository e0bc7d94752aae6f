// SPDX-License-Identifier: Apache-2.0
#include "balancer/inventory/hypervisors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_domains.h"

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Thread = migration::ThreadId::Kind;

VmDescription vm(std::uint8_t number, const std::string& name) {
  VmDescription vm;
  vm.id.uuid[15] = number;
  vm.name = name;
  vm.domain_id = number;
  vm.vcpus = {0};
  vm.max_vcpus = 1;
  return vm;
}

class FakeHypervisor final : public Hypervisor {
 public:
  explicit FakeHypervisor(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  Result<std::vector<VmDescription>> refresh() override { return domains.refresh(); }
  std::vector<VmId> unreadable() const override { return unread; }
  std::vector<std::string> take_notices() override { return {name_ + " says so"}; }
  void mark_dirty(const VmId& marked) override { dirty.push_back(marked); }
  migration::DomainControl& control() override { return domains; }

  tests::FakeDomains domains{{CpuId{0}, CpuId{1}}, {NodeId{0}}};
  std::vector<VmId> dirty;
  std::vector<VmId> unread;

 private:
  std::string name_;
};

const Error kAway{ErrorCode::kUnavailable, 0, "nobody answers"};

class HypervisorsTest : public testing::Test {
 protected:
  HypervisorsTest() {
    auto a = std::make_unique<FakeHypervisor>("a");
    auto b = std::make_unique<FakeHypervisor>("b");
    a_ = a.get();
    b_ = b.get();
    std::vector<Hypervisors::Source> sources;
    sources.push_back({std::move(a), true});
    sources.push_back({std::move(b), false});
    both_ = std::make_unique<Hypervisors>(std::move(sources));
  }
  std::vector<std::string> names() {
    const auto running = both_->refresh();
    EXPECT_TRUE(running.has_value()) << running.error().message;
    std::vector<std::string> names;
    for (const VmDescription& one : running.value_or(std::vector<VmDescription>{})) {
      names.push_back(one.name);
    }
    return names;
  }

  FakeHypervisor* a_;
  FakeHypervisor* b_;
  std::unique_ptr<Hypervisors> both_;
};

TEST_F(HypervisorsTest, TheirVmsAreOneListThatAscends) {
  a_->domains.start(vm(2, "two"));
  b_->domains.start(vm(1, "one"));
  b_->domains.start(vm(3, "three"));
  EXPECT_THAT(names(), ElementsAre("one", "two", "three"));
  EXPECT_EQ(both_->name(), "a and b");
  EXPECT_THAT(both_->take_notices(), ElementsAre("a says so", "b says so"));
}

TEST_F(HypervisorsTest, SayTogetherWhichVmsCannotBeRead) {
  a_->unread = {vm(2, "two").id};
  b_->unread = {vm(1, "one").id};
  EXPECT_THAT(both_->unreadable(), ElementsAre(vm(2, "two").id, vm(1, "one").id));
}

TEST_F(HypervisorsTest, AVmThatBothListIsTheFirstOnes) {
  a_->domains.start(vm(1, "of a"));
  b_->domains.start(vm(1, "of b"));
  EXPECT_THAT(names(), ElementsAre("of a"));
}

TEST_F(HypervisorsTest, AChangeReachesTheHypervisorThatListedTheVm) {
  a_->domains.start(vm(1, "one"));
  b_->domains.start(vm(2, "two"));
  (void)names();
  const VmId two = vm(2, "").id;
  ASSERT_TRUE(both_->control().pin({two, 2}, {Thread::kVcpu, 0}, {CpuId{1}}));
  EXPECT_EQ(b_->domains.refresh().value().front().vcpu_pins.size(), 1U);
  both_->mark_dirty(two);
  EXPECT_THAT(b_->dirty, ElementsAre(two));
  EXPECT_THAT(a_->dirty, IsEmpty());
}

TEST_F(HypervisorsTest, AVmThatNoHypervisorListsIsNotFound) {
  (void)names();
  EXPECT_EQ(both_->control().pin({vm(9, "").id, 9}, {Thread::kEmulator}, {CpuId{0}}).error().code,
            ErrorCode::kNotFound);
}

TEST_F(HypervisorsTest, AVmThatNoHypervisorHasListedYetIsLookedForInAll) {
  a_->domains.fail_with(kAway);
  b_->domains.start(vm(2, "two"));
  EXPECT_TRUE(both_->control().pin({vm(2, "").id, 2}, {Thread::kVcpu, 0}, {CpuId{1}}));
  EXPECT_EQ(both_->control().pin({vm(3, "").id, 3}, {Thread::kVcpu, 0}, {CpuId{1}}).error().code,
            ErrorCode::kUnavailable)
      << "it may be with the one that does not answer";
}

TEST_F(HypervisorsTest, ThatAnOptionalOneIsLeftOutIsSaidOnce) {
  a_->domains.fail_with(kAway);
  (void)names();
  (void)names();
  EXPECT_THAT(both_->take_notices(),
              ElementsAre("nobody answers; continuing without its VMs", "a says so", "b says so"));
  (void)names();
  EXPECT_THAT(both_->take_notices(), ElementsAre("a says so", "b says so"));
}

TEST_F(HypervisorsTest, AnOptionalOneIsMissedOnlyAfterItHasAnswered) {
  b_->domains.start(vm(1, "one"));
  a_->domains.fail_with(kAway);
  EXPECT_THAT(names(), ElementsAre("one"));
  a_->domains.fail_with(std::nullopt);
  a_->domains.start(vm(2, "two"));
  EXPECT_THAT(names(), ElementsAre("one", "two"));
  a_->domains.fail_with(kAway);
  EXPECT_EQ(both_->refresh().error().code, ErrorCode::kUnavailable);
}

TEST_F(HypervisorsTest, OneThatMustBeThereIsMissedAtOnce) {
  b_->domains.fail_with(kAway);
  EXPECT_EQ(both_->refresh().error().message, "nobody answers");
}

}  // namespace
}  // namespace vmnuma::balancer
