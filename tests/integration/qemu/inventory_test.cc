// SPDX-License-Identifier: Apache-2.0
/// The inventory of VMs without libvirt on processes that look like QEMU and are quick to start.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "balancer/qemu/affinity.h"
#include "balancer/qemu/qemu_hypervisor.h"
#include "balancer/qemu/threads.h"
#include "placement/model/text.h"
#include "tests/support/plain_qemu.h"
#include "tests/support/temp_directory.h"
#include "tests/support/wake_up.h"

namespace vmnuma::tests {
namespace {

using balancer::qemu::QemuHypervisor;
using balancer::qemu::QemuOptions;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;
using Thread = migration::ThreadId::Kind;

constexpr std::chrono::seconds kPatience{60};

std::string uuid_number(int number) {
  return fmt::format("c0ffee01-0000-4000-8000-{:012d}", number);
}

class PlainInventoryTest : public testing::Test {
 protected:
  PlainInventoryTest() {
    options_.is_foreign = [](const balancer::qemu::FoundProcess& found) {
      return parent_of(found.process.pid) != ::getpid();
    };
    std::filesystem::create_symlink(qemu_like_program(), program_);
    options_.program_dirs = {programs_.path()};
  }

  std::unique_ptr<PlainProcess> launch(QemuLike qemu) {
    qemu.program = program_;
    return start(qemu);
  }

  balancer::Hypervisor& inventory() {
    if (inventory_ == nullptr) {
      inventory_ = *QemuHypervisor::open(options_, [this] { dirty_.notify(); });
    }
    return *inventory_;
  }
  std::vector<VmDescription> running() {
    auto running = inventory().refresh();
    EXPECT_TRUE(running.has_value()) << running.error().message;
    return running.value_or(std::vector<VmDescription>{});
  }
  /// Waits for what the inventory tells of until `holds`.
  template <class Holds>
  testing::AssertionResult becomes(Holds holds) {
    while (!holds(running())) {
      if (!dirty_.wait(kPatience)) {
        return testing::AssertionFailure() << "nothing was told of for too long";
      }
    }
    return testing::AssertionSuccess();
  }
  testing::AssertionResult has(std::size_t count) {
    return becomes([count](const auto& vms) { return vms.size() == count; });
  }
  std::vector<std::string> notices() {
    for (std::string& text : inventory().take_notices()) {
      notices_.push_back(std::move(text));
    }
    return notices_;
  }

  const TempDirectory programs_;
  const std::string program_ = programs_.path() + "/qemu-system-like";
  QemuOptions options_;
  WakeUp dirty_;
  std::vector<std::string> notices_;
  std::unique_ptr<balancer::Hypervisor> inventory_;
};

TEST_F(PlainInventoryTest, AVmIsThereOnceAllOfItsVcpusAre) {
  // This one never gets its second.
  const auto half = launch({.uuid = uuid_number(10), .options = {"-smp", "2"}});
  half->await_output();
  const auto whole = launch({.uuid = uuid_number(11), .vcpus = 2});
  whole->await_output();
  ASSERT_TRUE(has(1));
  EXPECT_EQ(to_text(running().front().id), uuid_number(11));
}

TEST_F(PlainInventoryTest, TwoVmsOfOneUuidOrNameAreTwoVms) {
  const auto a = launch({.uuid = uuid_number(1), .options = {"-name", "twin"}});
  a->await_output();
  ASSERT_TRUE(has(1));
  const auto b = launch({.uuid = uuid_number(1), .options = {"-name", "twin"}});
  b->await_output();
  ASSERT_TRUE(has(2));
  const auto vms = running();
  EXPECT_NE(vms[0].id, vms[1].id);
  EXPECT_NE(vms[0].name, vms[1].name);
  EXPECT_THAT(notices(), Contains(HasSubstr("another VM has the same UUID")));
}

TEST_F(PlainInventoryTest, WithoutAUuidTheIdFollowsFromTheName) {
  // The program takes its UUID as QEMU does, but this one is none.
  auto process = launch({.uuid = "none", .options = {"-name", "nameless"}});
  process->await_output();
  ASSERT_TRUE(has(1));
  const VmId id = running().front().id;
  EXPECT_EQ(running().front().name, "nameless");
  process.reset();
  ASSERT_TRUE(has(0));
  process = launch({.uuid = "none", .options = {"-name", "nameless"}});
  process->await_output();
  ASSERT_TRUE(has(1));
  EXPECT_EQ(running().front().id, id);
}

TEST_F(PlainInventoryTest, WhatLibvirtManagesIsLeftToIt) {
  const auto theirs = start(
      {.uuid = uuid_number(2), .options = {"-mon", "chardev=charmonitor,id=monitor,mode=control"}});
  theirs->await_output();
  const auto ours = launch({.uuid = uuid_number(3)});
  ours->await_output();
  ASSERT_TRUE(has(1));
  EXPECT_EQ(to_text(running().front().id), uuid_number(3));
}

TEST_F(PlainInventoryTest, OptionsInAFileAreReadAndOneThatCannotBeIsSaid) {
  const TempDirectory directory;
  const std::string file = directory.path() + "/qemu.conf";
  std::ofstream(file) << "[memory]\nsize = \"3G\"\n";
  const auto readable = launch({.uuid = uuid_number(4), .options = {"-readconfig", file}});
  const auto unreadable =
      launch({.uuid = uuid_number(5), .options = {"-readconfig", "/no/such/file"}});
  readable->await_output();
  unreadable->await_output();
  ASSERT_TRUE(has(1));
  EXPECT_EQ(running().front().memory, kGiB * 3);
  ASSERT_TRUE(becomes([this](const auto&) {
    return testing::Value(notices(), Contains(HasSubstr("/no/such/file")));
  }));
}

TEST_F(PlainInventoryTest, WithoutACgroupOfItsOwnTheProgramTellsOfTheStart) {
  const TempDirectory no_cgroups;
  options_.cgroups = no_cgroups.path();
  ASSERT_TRUE(has(0));
  const auto process = launch({.uuid = uuid_number(6)});
  EXPECT_TRUE(has(1));
}

TEST_F(PlainInventoryTest, PinsThatAWrittenCpusetResetAreMadeAgainAndOthersAreNot) {
  const auto all = balancer::qemu::affinity_of(0).value();
  if (all.size() < 2) {
    GTEST_SKIP() << "takes two CPUs";
  }
  const TempDirectory cgroups;
  options_.cgroups = cgroups.path();
  const auto process = launch({.uuid = uuid_number(7), .vcpus = 2});
  process->await_output();
  ASSERT_TRUE(has(1));
  const VmId id = running().front().id;
  const migration::DomainRun run{id, running().front().domain_id};
  const std::vector<CpuId> one{all.front()};
  for (const std::int32_t vcpu : {0, 1}) {
    ASSERT_TRUE(inventory().control().pin(run, {Thread::kVcpu, vcpu}, one));
  }
  const auto threads =
      balancer::qemu::read_threads(
          files::Directory::open(fmt::format("/proc/{}", process->pid())).value(), {})
          .value();

  // As the kernel does when it resets: without a word, both; then one is pinned elsewhere.
  ASSERT_TRUE(balancer::qemu::set_affinity(threads.vcpus.at(0).tid, all));
  ASSERT_TRUE(balancer::qemu::set_affinity(threads.vcpus.at(1).tid, {all.back()}));
  inventory().mark_dirty(id);
  EXPECT_THAT(running().front().vcpu_pins, testing::ElementsAre(Pin{1, {all.back()}}))
      << "nothing was written, so the administrator has taken the pin away";

  std::ofstream(cgroups.path() + "/cpuset.cpus") << "0";
  EXPECT_TRUE(becomes([&](const auto& vms) {
    return vms.front().vcpu_pins == std::vector<Pin>{{0, one}, {1, {all.back()}}};
  }));
}

TEST_F(PlainInventoryTest, PinsThatOthersMakeAreListedThoughNothingTellsOfThem) {
  const auto all = balancer::qemu::affinity_of(0).value();
  if (all.size() < 2) {
    GTEST_SKIP() << "takes two CPUs";
  }
  const auto process = launch({.uuid = uuid_number(12), .vcpus = 2});
  process->await_output();
  ASSERT_TRUE(has(1));
  EXPECT_THAT(running().front().vcpu_pins, testing::IsEmpty());
  const auto threads =
      balancer::qemu::read_threads(
          files::Directory::open(fmt::format("/proc/{}", process->pid())).value(), {})
          .value();
  // As taskset does.
  ASSERT_TRUE(balancer::qemu::set_affinity(threads.vcpus.at(1).tid, {all.back()}));
  EXPECT_THAT(running().front().vcpu_pins, testing::ElementsAre(Pin{1, {all.back()}}));
  ASSERT_TRUE(balancer::qemu::set_affinity(threads.vcpus.at(1).tid, all));
  EXPECT_THAT(running().front().vcpu_pins, testing::IsEmpty());
}

TEST_F(PlainInventoryTest, AVmThatIsNamedBeforeTheFirstLookIsFound) {
  const auto process = launch({.uuid = uuid_number(9)});
  process->await_output();
  const migration::DomainRun run{parse_vm_id(uuid_number(9)).value(),
                                 static_cast<std::int32_t>(process->pid())};
  const auto pinned = inventory().control().pin(run, {Thread::kVcpu, 0},
                                                {balancer::qemu::affinity_of(0).value().front()});
  EXPECT_TRUE(pinned.has_value()) << pinned.error().message;
  EXPECT_THAT(running(), SizeIs(1));  // and the inventory tells of it all the same
}

/// Four hundred in all: half of them in cgroups of their own, where this machine lets a test make
/// some; the other half is told of by the program alone.
class ManyStartsTest : public PlainInventoryTest, public testing::WithParamInterface<bool> {
 protected:
  static constexpr int kSteps = 10;
  static constexpr int kAStep = 20;
  /// What tells of one start, at most: a cgroup is made, a process enters it, QEMU is opened.
  static constexpr int kHintsOfAStart = 3;

  ManyStartsTest() {
    // Cgroups and programs of our own, so that every hint is ours.
    std::filesystem::remove(program_);
    std::filesystem::copy_file(qemu_like_program(), program_);
    cgroups_ = GetParam() ? OwnCgroups::make() : nullptr;
    options_.cgroups = cgroups_ != nullptr ? cgroups_->path() : no_cgroups_.path();
  }

  std::unique_ptr<PlainProcess> launch_next() {
    const int vm = started_++;
    return launch({.uuid = uuid_number(vm),
                   .cgroup = cgroups_ != nullptr ? cgroups_->add(fmt::format("{}.scope", vm)) : "",
                   .options = {"-name", fmt::format("vm{}", vm), "-m", "plenty"}});
  }
  /// What is listed, each under the one identity that it was first seen with.
  void note(const std::vector<VmDescription>& vms) {
    for (const VmDescription& vm : vms) {
      const auto [known, is_new] = seen_.emplace(vm.id, vm.domain_id);
      EXPECT_EQ(known->second, vm.domain_id) << "a VM is taken for two";
    }
  }
  testing::AssertionResult lists(const std::set<VmId>& wanted) {
    return becomes([&](const std::vector<VmDescription>& vms) {
      note(vms);
      return vms.size() == wanted.size() &&
             std::all_of(vms.begin(), vms.end(),
                         [&](const VmDescription& vm) { return wanted.contains(vm.id); });
    });
  }

  const TempDirectory no_cgroups_;
  std::unique_ptr<OwnCgroups> cgroups_;
  int started_ = 0;
  std::map<VmId, std::int32_t> seen_;
};

VmId id_of(int number) {
  return parse_vm_id(uuid_number(number)).value();
}

TEST_P(ManyStartsTest, NoneIsMissedAndNoneIsKeptAndWakeUpsAreAsManyAsEvents) {
  if (GetParam() && cgroups_ == nullptr) {
    GTEST_SKIP() << "no cgroup v2 in which cgroups can be made";
  }
  ASSERT_TRUE(lists({}));
  std::map<VmId, std::unique_ptr<PlainProcess>> alive;
  std::set<VmId> lived;  // across an inventory
  const auto ids = [&alive] {
    std::set<VmId> all;
    for (const auto& [id, process] : alive) {
      all.insert(id);
    }
    return all;
  };
  for (int step = 0; step < kSteps; ++step) {
    // Those of the step before end while these start.
    auto before = std::exchange(alive, {});
    for (int number = 0; number < kAStep; ++number) {
      const VmId id = id_of(started_);
      auto process = launch_next();
      if (number % 5 == 0) {
        continue;  // it ends at once, whether it was looked at or not
      }
      alive.emplace(id, std::move(process));
      if (!before.empty()) {
        before.erase(before.begin());
      }
    }
    before.clear();
    ASSERT_TRUE(lists(ids())) << "step " << step;
    lived.merge(ids());
  }
  alive.clear();
  ASSERT_TRUE(lists({}));

  for (const VmId& id : lived) {
    EXPECT_TRUE(seen_.contains(id)) << to_text(id);
  }
  EXPECT_THAT(lived, SizeIs(kSteps * kAStep * 4 / 5));
  // Each has something odd on its command line, which is said once of each.
  EXPECT_EQ(notices().size(), seen_.size());
  const int looks_a_hint = 1 + static_cast<int>(balancer::qemu::ChangeWatchSetup{}.settling.size());
  EXPECT_LE(dirty_.total(), started_ * (1 + kHintsOfAStart * looks_a_hint));
}

INSTANTIATE_TEST_SUITE_P(ToldBy, ManyStartsTest, testing::Bool(),
                         [](const auto& told) { return told.param ? "Cgroups" : "TheProgram"; });

TEST_F(PlainInventoryTest, WhereNothingHappensNothingRuns) {
  const auto process = launch({.uuid = uuid_number(8)});
  process->await_output();
  ASSERT_TRUE(has(1));
  // Others on this machine make cgroups, too, so what is told is no more than a look every 100 ms.
  const auto begin = std::chrono::steady_clock::now();
  const int before = dirty_.total();
  (void)dirty_.wait(std::chrono::seconds(1));
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(dirty_.total() - before, 2 + took / std::chrono::milliseconds(100));
}

}  // namespace
}  // namespace vmnuma::tests
