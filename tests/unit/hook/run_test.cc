// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/run.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/fake_host.h"

namespace vmnuma::tools {
namespace {

using balancer::AnnounceRequest;
using balancer::Answer;
using balancer::Command;
using balancer::DoneView;
using balancer::WithdrawRequest;
using placement::kGiB;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::FakeDaemon;

constexpr const char* kUuid = "c7a5fdbd-edaf-9455-926a-d65c16db1809";

std::string vm_xml(const std::string& vcpu, const std::string& elements = "") {
  return std::string("<domain type='kvm'><name>web1</name><uuid>") + kUuid +
         "</uuid><memory unit='KiB'>307201</memory>" + vcpu + elements +
         "<os><type>hvm</type></os></domain>";
}
const std::string kAsks = vm_xml("<vcpu placement='auto' current='2'>4</vcpu>");
const std::string kDoesNotAsk = vm_xml("<vcpu>2</vcpu>");
const std::string kPinnedElsewhere =
    vm_xml("<vcpu cpuset='0-63'>2</vcpu>", "<cputune><vcpupin vcpu='0' cpuset='40'/></cputune>");

/// The machine that runs the tests may be busy.
constexpr std::chrono::minutes kNoHurry{5};

class HookRunTest : public testing::Test {
 protected:
  HookRunTest() { host_.set_nodes(tests::regular_nodes(2, 2, 1, kGiB * 4)); }

  void run(const std::string& operation, const std::string& xml, const std::string& socket) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::tmpfile(), std::fclose);
    std::fputs(xml.c_str(), input.get());
    std::rewind(input.get());
    const std::vector<std::string> arguments{"--socket", socket,  "--", "web1",
                                             operation,  "begin", "-"};
    run_hook(arguments, {::fileno(input.get()), out_, host_.path(),
                         [this](const std::string& text) { reports_.push_back(text); }, kNoHurry});
  }

  /// What the daemon is told.
  std::vector<Command> told(const std::string& operation, const std::string& xml) {
    std::vector<Command> commands;
    {
      const FakeDaemon daemon(
          FakeDaemon::answering([&commands](const Command& command) -> Result<Answer> {
            commands.push_back(command);
            return Answer(DoneView{});
          }));
      run(operation, xml, daemon.socket_path());
    }
    return commands;
  }

  tests::FakeHost host_;
  std::ostringstream out_;
  std::vector<std::string> reports_;
};

TEST_F(HookRunTest, AnnouncesAVmThatWillAsk) {
  // Online vCPUs and MiB rounded up, as libvirt asks.
  EXPECT_THAT(told("prepare", kAsks), ElementsAre(Command(AnnounceRequest{"web1", kUuid, 2, 301})));
  EXPECT_THAT(reports_, IsEmpty());
  EXPECT_EQ(out_.str(), "");
}

TEST_F(HookRunTest, MemoryPlacementMakesAVmAsk) {
  const std::string xml = vm_xml(
      "<vcpu>2</vcpu>", "<numatune><memory mode='restrictive' placement='auto'/></numatune>");
  EXPECT_THAT(told("prepare", xml), ElementsAre(Command(AnnounceRequest{"web1", kUuid, 2, 301})));
}

TEST_F(HookRunTest, WithdrawsItWhenItIsReleased) {
  EXPECT_THAT(told("release", kAsks), ElementsAre(Command(WithdrawRequest{kUuid})));
}

TEST_F(HookRunTest, NobodyIsToldOfAVmThatDoesNotAsk) {
  EXPECT_THAT(told("prepare", kDoesNotAsk), IsEmpty());
  EXPECT_THAT(told("release", kDoesNotAsk), IsEmpty());
}

TEST_F(HookRunTest, TheOtherOperationsDoNothing) {
  for (const char* operation : {"start", "started", "stopped", "reconnect", "attach", "unknown"}) {
    EXPECT_THAT(told(operation, kAsks), IsEmpty()) << operation;
    EXPECT_THAT(reports_, IsEmpty()) << operation;
    EXPECT_EQ(out_.str(), "") << operation;
  }
}

TEST_F(HookRunTest, FitsTheXmlOfAnArrivingVm) {
  for (const char* operation : {"migrate", "restore"}) {
    out_.str("");
    reports_.clear();
    EXPECT_THAT(told(operation, kPinnedElsewhere), IsEmpty());
    EXPECT_EQ(out_.str(), vm_xml("<vcpu cpuset='0-3'>2</vcpu>", "<cputune/>")) << operation;
    EXPECT_THAT(reports_, ElementsAre(HasSubstr("VM 'web1' comes with <vcpu> cpuset"),
                                      HasSubstr("<vcpupin vcpu='0'>")));
  }
}

TEST_F(HookRunTest, AnXmlThatFitsIsPassedOnByPrintingNothing) {
  run("migrate", kAsks, "/nonexistent");
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(reports_, IsEmpty());
}

TEST_F(HookRunTest, OnlyArrivingVmsAreChanged) {
  run("prepare", kPinnedElsewhere, "/nonexistent");
  run("reconnect", kPinnedElsewhere, "/nonexistent");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(HookRunTest, WhatIsNoXmlIsPassedOn) {
  for (const char* operation : {"prepare", "migrate", "restore", "release"}) {
    for (const char* xml : {"", "-", "<domain>", "<domain/>x<", "<network/>", "\xff\xfe"}) {
      reports_.clear();
      run(operation, xml, "/nonexistent");
      EXPECT_EQ(out_.str(), "");
      EXPECT_THAT(reports_, ElementsAre(HasSubstr("going on without"))) << operation << xml;
    }
  }
}

TEST_F(HookRunTest, ADaemonThatIsAwayIsReportedOnce) {
  run("prepare", kAsks, "/nonexistent");
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("at 'prepare' of VM 'web1'")));
}

TEST_F(HookRunTest, AHostThatCannotBeReadLeavesTheXml) {
  host_.remove("sys/devices/system/node/has_memory");
  run("migrate", kPinnedElsewhere, "/nonexistent");
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("has_memory")));
}

TEST_F(HookRunTest, WithoutAnOperationNothingIsDone) {
  const std::vector<std::string> arguments{"web1"};
  run_hook(arguments, {-1, out_, host_.path(),
                       [this](const std::string& text) { reports_.push_back(text); }, kNoHurry});
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("doing nothing")));
}

}  // namespace
}  // namespace vmnuma::tools
