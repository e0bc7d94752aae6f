// SPDX-License-Identifier: Apache-2.0
/// inotify on directories of our own, and processes that end.
#include "balancer/qemu/change_watch.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/plain_qemu.h"
#include "tests/support/temp_directory.h"
#include "tests/support/wake_up.h"

namespace vmnuma::balancer::qemu {
namespace {

constexpr std::chrono::seconds kPatience{30};

class ChangeWatchTest : public testing::Test {
 protected:
  ChangeWatchTest() {
    std::filesystem::create_directories(cgroups_.path() + "/qemu.slice/1.scope");
    write(programs_.path() + "/qemu-system-x86_64");
    write(programs_.path() + "/vim");
    watch_ = ChangeWatch::start(setup()).value();
  }

  ChangeWatchSetup setup() {
    return {.cgroups = cgroups_.path(),
            .program_dirs = {programs_.path(), "/no/such/directory"},
            .on_cgroup =
                [this] {
                  cgroup_.notify();
                  look_.notify();
                  sign_.notify();
                },
            .on_program =
                [this] {
                  program_.notify();
                  look_.notify();
                },
            .on_end = [this] { end_.notify(); },
            .on_cpuset =
                [this] {
                  cpuset_.notify();
                  sign_.notify();
                }};
  }
  /// A watch that settles at once, in `looks` looks.
  void settle_quickly(std::size_t looks) {
    watch_.reset();
    ChangeWatchSetup quick = setup();
    quick.settling.assign(looks, std::chrono::milliseconds{1});
    watch_ = ChangeWatch::start(std::move(quick)).value();
  }

  static void write(const std::string& file) { std::ofstream(file) << "x"; }

  tests::TempDirectory cgroups_;
  tests::TempDirectory programs_;
  tests::WakeUp cgroup_;
  tests::WakeUp program_;
  tests::WakeUp look_;  ///< either
  tests::WakeUp end_;
  tests::WakeUp cpuset_;
  tests::WakeUp sign_;  ///< of cgroups: a look or a written cpuset
  std::unique_ptr<ChangeWatch> watch_;
};

TEST_F(ChangeWatchTest, ANewCgroupIsAHintAtAnyDepth) {
  std::filesystem::create_directory(cgroups_.path() + "/qemu.slice/2.scope");
  EXPECT_TRUE(cgroup_.wait(kPatience));
  EXPECT_EQ(watch_->lack(), "");
}

TEST_F(ChangeWatchTest, CgroupsBelowOneThatWasJustMadeAreWatchedToo) {
  std::filesystem::create_directories(cgroups_.path() + "/a/b/c");
  // The first looks may be at a or b alone, when c is not watched yet; the last is not.
  while (cpuset_.total() == 0) {
    ASSERT_TRUE(sign_.wait(kPatience));
    write(cgroups_.path() + "/a/b/c/cpuset.cpus");
  }
}

TEST_F(ChangeWatchTest, AProcessThatEntersACgroupIsAHint) {
  write(cgroups_.path() + "/qemu.slice/1.scope/cgroup.procs");
  EXPECT_TRUE(cgroup_.wait(kPatience));
}

TEST_F(ChangeWatchTest, AfterAHintItIsLookedAgain) {
  std::filesystem::create_directory(cgroups_.path() + "/b.scope");
  for (int look = 0; look < 4; ++look) {
    EXPECT_TRUE(cgroup_.wait(kPatience)) << look;
  }
}

TEST_F(ChangeWatchTest, SomethingOnItsWayIsLookedForAgain) {
  watch_->look_again();
  EXPECT_TRUE(cgroup_.wait(kPatience));
}

TEST_F(ChangeWatchTest, OpeningQemuIsAHintToLookThoroughly) {
  std::ifstream(programs_.path() + "/vim").get();
  std::ifstream(programs_.path() + "/qemu-system-x86_64").get();
  EXPECT_TRUE(program_.wait(kPatience));
  EXPECT_EQ(cgroup_.total(), 0);
}

TEST_F(ChangeWatchTest, AWrittenCpusetIsTold) {
  write(cgroups_.path() + "/qemu.slice/cpuset.cpus");
  EXPECT_TRUE(cpuset_.wait(kPatience));
}

TEST_F(ChangeWatchTest, TheEndOfAProcessIsTold) {
  auto process = tests::start({.uuid = "11111111-2222-3333-4444-555555555555"});
  const auto descriptor = migration::ProcessDescriptor::open(process->pid()).value();
  ASSERT_TRUE(watch_->watch(descriptor));
  process.reset();
  EXPECT_TRUE(end_.wait(kPatience));
  watch_->forget(descriptor);
}

TEST_F(ChangeWatchTest, ManyHintsAreFewLooks) {
  const auto begin = std::chrono::steady_clock::now();
  for (int scope = 0; scope < 300; ++scope) {
    std::filesystem::create_directory(cgroups_.path() + "/" + std::to_string(scope));
  }
  watch_.reset();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(cgroup_.total(), 2 + took / ChangeWatchSetup{}.settling.front());
}

TEST_F(ChangeWatchTest, AHintCostsOneLookAndThoseOfSettling) {
  constexpr int kSettling = 3;
  settle_quickly(kSettling);
  for (int hint = 1; hint <= 20; ++hint) {
    std::filesystem::create_directory(cgroups_.path() + "/" + std::to_string(hint));
    for (int look = 0; look < 1 + kSettling; ++look) {
      ASSERT_TRUE(cgroup_.wait(kPatience)) << "hint " << hint << ", look " << look;
    }
    EXPECT_EQ(cgroup_.total(), hint * (1 + kSettling));
  }
}

TEST_F(ChangeWatchTest, OfManyLooksAfterOpeningsOfQemuFewAreThorough) {
  constexpr int kSettling = 3;
  constexpr int kOpenings = 100;
  settle_quickly(kSettling);
  const auto begin = std::chrono::steady_clock::now();
  for (int opening = 0; opening < kOpenings; ++opening) {
    std::ifstream(programs_.path() + "/qemu-system-x86_64").get();
    for (int look = 0; look < 1 + kSettling; ++look) {
      ASSERT_TRUE(look_.wait(kPatience)) << "opening " << opening << ", look " << look;
    }
  }
  watch_.reset();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(program_.total(), 1 + took / ChangeWatch::kThorough);
  EXPECT_EQ(look_.total(), kOpenings * (1 + kSettling));
}

}  // namespace
}  // namespace vmnuma::balancer::qemu
