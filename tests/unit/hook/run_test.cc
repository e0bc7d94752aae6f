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

#include "balancer/controller/admission_state.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/fake_host.h"

namespace vmnuma::tools {
namespace {

using balancer::AnnounceRequest;
using balancer::Answer;
using balancer::Command;
using balancer::DoneView;
using balancer::WithdrawRequest;
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

/// How the hook announces 'web1', if nothing else is said of it.
AnnounceRequest announced(std::int32_t vcpus, std::int64_t memory_mib) {
  AnnounceRequest request{"web1", kUuid, vcpus, memory_mib};
  request.waits_s = 120;
  return request;
}

/// The machine that runs the tests may be busy.
constexpr std::chrono::minutes kNoHurry{5};

class HookRunTest : public testing::Test {
 protected:
  static constexpr std::int64_t kNow = 1'763'900'000;
  HookRunTest() { host_.set_nodes(tests::regular_nodes(2, 2, 1, kGiB * 4)); }

  int run(const std::string& operation, const std::string& xml, const std::string& socket) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::tmpfile(), std::fclose);
    std::fputs(xml.c_str(), input.get());
    std::rewind(input.get());
    const std::vector<std::string> arguments{"--socket", socket,  "--", "web1",
                                             operation,  "begin", "-"};
    return run_hook(
        arguments, {::fileno(input.get()), out_, host_.path(),
                    [this](const std::string& text) { reports_.push_back(text); }, kNoHurry, kNow});
  }
  /// The daemon has run, and wrote this down so many seconds ago.
  void known(const balancer::AdmissionState& state, std::int64_t seconds_ago = 10) {
    host_.write("proc/sys/kernel/random/boot_id", "this-boot\n");
    host_.write("var/lib/vmnuma/admission", to_text(state, {kNow - seconds_ago, "this-boot"}));
  }
  void enforced() {
    balancer::AdmissionState state;
    state.enforces = true;
    known(state);
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
      EXPECT_EQ(run(operation, xml, daemon.socket_path()), kHookDone);
    }
    return commands;
  }

  tests::FakeHost host_;
  std::ostringstream out_;
  std::vector<std::string> reports_;
};

TEST_F(HookRunTest, AnnouncesAVmThatWillAsk) {
  // Online vCPUs and MiB rounded up, as libvirt asks.
  EXPECT_THAT(told("prepare", kAsks), ElementsAre(Command(announced(2, 301))));
  EXPECT_THAT(reports_, IsEmpty());
  EXPECT_EQ(out_.str(), "");
}

TEST_F(HookRunTest, MemoryPlacementMakesAVmAsk) {
  const std::string xml = vm_xml(
      "<vcpu>2</vcpu>", "<numatune><memory mode='restrictive' placement='auto'/></numatune>");
  EXPECT_THAT(told("prepare", xml), ElementsAre(Command(announced(2, 301))));
}

TEST_F(HookRunTest, WithdrawsItWhenItIsReleased) {
  EXPECT_THAT(told("release", kAsks), ElementsAre(Command(WithdrawRequest{kUuid})));
}

TEST_F(HookRunTest, AVmThatDoesNotAskIsAnnouncedAsOne) {
  AnnounceRequest request = announced(2, 301);
  request.asks = false;
  EXPECT_THAT(told("prepare", kDoesNotAsk), ElementsAre(Command(request)));
}

TEST_F(HookRunTest, TellsWhatTheVmNeedsAndWhatTheHostHasOfIt) {
  host_.write("proc/meminfo", "Hugepagesize:       2048 kB\n");
  host_.write("sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages", "100\n");
  host_.write("sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages", "40\n");
  host_.write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  AnnounceRequest request = announced(2, 301);
  request.asks = false;
  request.policy = {{"nodes", "0-1"}, {"affinity_group", std::nullopt}};
  host_.write("sys/class/net/br0/lower_eth0/ifindex", "2\n");
  host_.write("sys/class/net/eth0/device/numa_node", "1\n");
  request.devices = {{"0000:3b:00.0", {1}}};
  host_.link("sys/bus/mdev/devices/53764d0e-85a0-42b4-af5c-2046b460b1dc",
             "../../../devices/pci0000:3a/0000:3b:00.1/53764d0e");
  host_.write("sys/devices/pci0000:3a/0000:3b:00.1/53764d0e/remove", "");
  host_.write("sys/devices/pci0000:3a/0000:3b:00.1/numa_node", "0\n");
  host_.write("sys/class/block/nvme0n1/device/numa_node", "1\n");
  request.devices.push_back({"53764d0e-85a0-42b4-af5c-2046b460b1dc", {0}});
  request.interfaces = {{"br0", {1}}};
  request.disks = {{"nvme0n1", {1}}};
  request.huge_page_kib = 2048;
  request.huge_pages = {{{0}, 0, 0, 2048}, {{1}, 40, 100, 2048}};
  EXPECT_THAT(
      told("prepare",
           vm_xml("<vcpu>2</vcpu>",
                  "<metadata><v:policy xmlns:v='https://vmnuma.org/policy/1.0' nodes='0-1' "
                  "affinity_group=''/></metadata><memoryBacking><hugepages/></memoryBacking>"
                  "<devices><hostdev mode='subsystem' type='pci'><source><address domain='0' "
                  "bus='0x3b' slot='0' function='0'/></source></hostdev>"
                  "<interface type='bridge'><source bridge='br0'/><model type='virtio'/>"
                  "</interface><interface type='bridge'><source bridge='br1'/>"
                  "<model type='virtio'/></interface><hostdev mode='subsystem' type='mdev' "
                  "model='vfio-pci'><source><address uuid='53764d0e-85a0-42b4-af5c-2046b460b1dc'/>"
                  "</source></hostdev><disk type='block' device='disk'><source "
                  "dev='/dev/nvme0n1'/></disk></devices>")),
      ElementsAre(Command(request)));
}

TEST_F(HookRunTest, TellsOfTheGuestsNumaCells) {
  AnnounceRequest request = announced(4, 301);
  request.asks = false;
  request.cells = {{{0, 1}, 1}, {{2, 3}, 1}};
  EXPECT_THAT(told("prepare", vm_xml("<vcpu>4</vcpu>",
                                     "<cpu><numa>"
                                     "<cell id='0' cpus='0-1' memory='1024'/>"
                                     "<cell id='1' cpus='2-3' memory='1024'/></numa></cpu>")),
              ElementsAre(Command(request)));
}

std::string with_policy(const std::string& policy, const std::string& memory_kib = "1024") {
  return std::string("<domain type='kvm'><name>web1</name><uuid>") + kUuid +
         "</uuid><metadata><v:policy xmlns:v='https://vmnuma.org/policy/1.0' " + policy +
         "/></metadata><memory unit='KiB'>" + memory_kib +
         "</memory><vcpu>2</vcpu><os><type>hvm</type></os></domain>";
}
constexpr const char* kSingle = "topology_policy='single-numa-node'";

/// The same VM, started by Nova.
std::string of_nova(std::string xml) {
  constexpr std::string_view kEnd = "</metadata>";
  return xml.insert(xml.find(kEnd),
                    "<n:instance xmlns:n='http://openstack.org/xmlns/libvirt/nova/1.1'><n:owner>"
                    "<n:project uuid='83c8'>shop</n:project></n:owner></n:instance>");
}
constexpr const char* kTooMuch = "999999999";

TEST_F(HookRunTest, AVmThatTheDaemonDoesNotAdmitMayNotStart) {
  const FakeDaemon daemon(FakeDaemon::answering([](const Command&) -> Result<Answer> {
    return failure(ErrorCode::kNoSpace, "topology_policy is 'restricted', but ...");
  }));
  EXPECT_EQ(run("prepare", kAsks, daemon.socket_path()), kHookRefused);
  EXPECT_THAT(reports_, ElementsAre("VM 'web1' may not start: topology_policy is 'restricted', "
                                    "but ..."));
  EXPECT_EQ(run("release", kAsks, daemon.socket_path()), kHookDone);
}

TEST_F(HookRunTest, NoOtherErrorOfTheDaemonKeepsAVmFromStarting) {
  for (const ErrorCode code : {ErrorCode::kInvalidArgument, ErrorCode::kBusy,
                               ErrorCode::kPermissionDenied, ErrorCode::kUnsupported}) {
    const FakeDaemon daemon(FakeDaemon::answering(
        [code](const Command&) -> Result<Answer> { return failure(code, "no"); }));
    EXPECT_EQ(run("prepare", kAsks, daemon.socket_path()), kHookDone) << name_of(code);
    EXPECT_EQ(run("prepare", with_policy(kSingle), daemon.socket_path()), kHookDone);
  }
}

TEST_F(HookRunTest, WithoutTheDaemonTheHostsFilesDecideWhereTheVmAsksForIt) {
  enforced();
  EXPECT_EQ(run("prepare", with_policy(kSingle), "/nonexistent"), kHookDone);
  EXPECT_THAT(
      reports_,
      ElementsAre(HasSubstr("judging by what the daemon wrote down last and the host's files")));
  reports_.clear();
  EXPECT_EQ(run("prepare", with_policy(kSingle, kTooMuch), "/nonexistent"), kHookRefused);
  EXPECT_THAT(reports_.back(), HasSubstr("topology_policy is 'single-numa-node'"));
  EXPECT_THAT(reports_.back(), HasSubstr("976562 MiB of memory"));
  EXPECT_THAT(reports_.back(), HasSubstr("on node 1 2 CPUs"));
  // Only there.
  for (const char* policy : {"", "topology_policy='best-effort'", "topology_policy='single'",
                             "topology_policy='restricted' colour='blue'"}) {
    EXPECT_EQ(run("prepare", with_policy(policy, kTooMuch), "/nonexistent"), kHookDone) << policy;
  }
  for (const char* operation : {"start", "started", "reconnect", "release", "migrate", "restore"}) {
    EXPECT_EQ(run(operation, with_policy(kSingle, kTooMuch), "/nonexistent"), kHookDone);
  }
}

TEST_F(HookRunTest, WithoutTheDaemonNoVmIsRefusedUnlessTheDaemonWasToRefuse) {
  const auto starts = [this] {
    reports_.clear();
    EXPECT_EQ(run("prepare", with_policy(kSingle, kTooMuch), "/nonexistent"), kHookDone);
    EXPECT_THAT(reports_.back(), HasSubstr("VM 'web1' would not be admitted, but may start"));
    EXPECT_THAT(reports_.back(), HasSubstr("topology_policy is 'single-numa-node'"));
  };
  starts();  // it never ran
  known({});
  starts();  // in mode dry-run
  host_.write("var/lib/vmnuma/admission", "of no use");
  starts();
  // That it was to refuse is believed for ever, also after the host was booted.
  balancer::AdmissionState state;
  state.enforces = true;
  known(state, 1'000'000);
  EXPECT_EQ(run("prepare", with_policy(kSingle, kTooMuch), "/nonexistent"), kHookRefused);
  EXPECT_THAT(reports_, testing::Contains(HasSubstr(", judging by the host's files")));
}

/// The host of these tests with 2 CPUs and 4 GiB a node, as the daemon knows it.
balancer::AdmissionState two_nodes() {
  balancer::AdmissionState state;
  state.enforces = true;
  for (const std::int32_t id : {0, 1}) {
    state.nodes.push_back({{id}, 2, 1, 1, kGiB / 8, {}, {}});
  }
  return state;
}

TEST_F(HookRunTest, WhatTheDaemonPromisedToOthersIsNotFreeWithoutIt) {
  balancer::AdmissionState state = two_nodes();
  const std::string one_gib = with_policy(kSingle, "1048576");
  known(state);
  EXPECT_EQ(run("prepare", one_gib, "/nonexistent"), kHookDone);
  state.nodes[0].promised = state.nodes[1].promised = kGiB * 4;
  known(state);
  EXPECT_EQ(run("prepare", one_gib, "/nonexistent"), kHookRefused);
  known(state, balancer::kAdmissionFreshFor_s + 1);  // too old
  EXPECT_EQ(run("prepare", one_gib, "/nonexistent"), kHookDone);
  known(state);
  host_.write("proc/sys/kernel/random/boot_id", "another-boot\n");
  EXPECT_EQ(run("prepare", one_gib, "/nonexistent"), kHookDone);
  state.nodes[1].promised = {};
  state.nodes[1].reserve = kGiB * 4;  // nor is what it leaves to the system
  known(state);
  EXPECT_EQ(run("prepare", one_gib, "/nonexistent"), kHookRefused);
}

TEST_F(HookRunTest, WhatIsReservedIsFreeForTheVmThatItIsForWithoutTheDaemon) {
  balancer::AdmissionState state = two_nodes();
  const std::string one_gib = with_policy(kSingle, "1048576");
  for (balancer::AdmissionState::Node& node : state.nodes) {
    node.reserve = kGiB * 4;
  }
  balancer::Reservation& reservation = state.reservations.emplace_back();
  reservation.memory = {{NodeId{1}, {}, kGiB * 4 - kGiB / 8}};
  reservation.vm = "another";
  known(state);
  EXPECT_EQ(run("prepare", one_gib, "/nonexistent"), kHookRefused);
  reservation.vm = "web1";
  known(state);
  EXPECT_EQ(run("prepare", one_gib, "/nonexistent"), kHookDone);
  EXPECT_EQ(run("prepare", with_policy(kSingle, kTooMuch), "/nonexistent"), kHookRefused);
  reservation.vm = "another";
  reservation.owner = "shop";
  known(state);
  EXPECT_EQ(run("prepare", one_gib, "/nonexistent"), kHookRefused);
  EXPECT_EQ(run("prepare", of_nova(one_gib), "/nonexistent"), kHookDone);
}

TEST_F(HookRunTest, TheDaemonIsToldOfNovasProject) {
  std::vector<AnnounceRequest> asked;
  const FakeDaemon daemon(FakeDaemon::answering([&](const Command& command) -> Result<Answer> {
    asked.push_back(std::get<AnnounceRequest>(command));
    return Answer(balancer::AnnouncedView{"", {}, {}});
  }));
  EXPECT_EQ(run("prepare", of_nova(with_policy(kSingle)), daemon.socket_path()), kHookDone);
  EXPECT_EQ(run("prepare", with_policy(kSingle), daemon.socket_path()), kHookDone);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_THAT(asked[0].nova_project, ElementsAre(NovaProject{"shop", "83c8"}));
  EXPECT_TRUE(asked[1].nova_project.empty());
}

TEST_F(HookRunTest, TheDaemonIsToldWhereTheMemoryMayLieAndWithoutItThatCountsAsWell) {
  std::vector<AnnounceRequest> asked;
  std::string xml = with_policy(kSingle, "1048576");
  xml.insert(xml.find("<vcpu>"), "<numatune><memory mode='strict' nodeset='0'/></numatune>");
  {
    const FakeDaemon daemon(FakeDaemon::answering([&](const Command& command) -> Result<Answer> {
      asked.push_back(std::get<AnnounceRequest>(command));
      return Answer(balancer::AnnouncedView{"", {}, {}});
    }));
    EXPECT_EQ(run("prepare", xml, daemon.socket_path()), kHookDone);
  }
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_THAT(asked[0].numatune, ElementsAre(CellBinding{NumatuneMode::kStrict, {{0}}}));
  balancer::AdmissionState state = two_nodes();
  state.nodes[0].reserve = kGiB * 4;
  known(state);
  EXPECT_EQ(run("prepare", xml, "/nonexistent"), kHookRefused);
  EXPECT_EQ(run("prepare", with_policy(kSingle, "1048576"), "/nonexistent"), kHookDone);
}

TEST_F(HookRunTest, HugePagesThatTheDaemonPromisedAreNotFreeWithoutIt) {
  host_.write("proc/meminfo", "Hugepagesize:       2048 kB\n");
  for (const char* name : {"nr_hugepages", "free_hugepages"}) {
    host_.write(std::string("sys/devices/system/node/node1/hugepages/hugepages-2048kB/") + name,
                "512\n");
  }
  std::string xml = with_policy(kSingle, "1048576");
  xml.insert(xml.find("<vcpu>"), "<memoryBacking><hugepages/></memoryBacking>");
  balancer::AdmissionState state = two_nodes();
  known(state);
  EXPECT_EQ(run("prepare", xml, "/nonexistent"), kHookDone);
  state.nodes[1].pools = {{kMiB * 2, kMiB * 2}};
  known(state);
  EXPECT_EQ(run("prepare", xml, "/nonexistent"), kHookRefused);
  EXPECT_THAT(reports_.back(), HasSubstr("on node 1 2 CPUs, 511 huge pages of 2048 KiB"));
  state.nodes[1].pools = {{kGiB, kGiB}};  // of another size
  known(state);
  EXPECT_EQ(run("prepare", xml, "/nonexistent"), kHookDone);
}

TEST_F(HookRunTest, CoresThatBelongToAVmAreNotFreeWithoutTheDaemon) {
  const std::string xml = with_policy("cpu_binding='exclusive'");
  balancer::AdmissionState state = two_nodes();
  for (balancer::AdmissionState::Node& node : state.nodes) {
    node.free_cores = node.cores = 3;
    node.cpus = 4;
  }
  known(state);
  EXPECT_EQ(run("prepare", xml, "/nonexistent"), kHookDone);
  state.nodes[0].free_cores = state.nodes[1].free_cores = 1;  // it wants two
  known(state);
  EXPECT_EQ(run("prepare", xml, "/nonexistent"), kHookRefused);
  EXPECT_THAT(reports_.back(), HasSubstr("needs 2. Free were on node 0 1 of 4 cores"));
  known(state, balancer::kAdmissionFreshFor_s + 1);
  EXPECT_EQ(run("prepare", xml, "/nonexistent"), kHookDone);
  state.nodes[1].cores = 1;  // of two threads each; the other node's have one
  known(state);
  EXPECT_EQ(run("prepare", xml, "/nonexistent"), kHookDone);
  std::swap(state.nodes[0], state.nodes[1]);
  std::swap(state.nodes[0].id, state.nodes[1].id);
  known(state);
  EXPECT_EQ(run("prepare", xml, "/nonexistent"), kHookDone);
}

TEST_F(HookRunTest, AHostThatCannotBeReadRefusesNoVm) {
  host_.remove("sys/devices/system/node/online");
  EXPECT_EQ(run("prepare", with_policy(kSingle, kTooMuch), "/nonexistent"), kHookDone);
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
    EXPECT_THAT(
        reports_,
        ElementsAre(HasSubstr("the XML of VM 'web1' is adapted to this host: <vcpu> cpuset"),
                    HasSubstr("<vcpupin vcpu='0'>")));
  }
}

TEST_F(HookRunTest, AnXmlThatFitsIsPassedOnByPrintingNothing) {
  EXPECT_EQ(run("migrate", kAsks, "/nonexistent"), kHookDone);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(reports_, IsEmpty());
}

TEST_F(HookRunTest, OnlyArrivingVmsAreChanged) {
  EXPECT_EQ(run("prepare", kPinnedElsewhere, "/nonexistent"), kHookDone);
  EXPECT_EQ(run("reconnect", kPinnedElsewhere, "/nonexistent"), kHookDone);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(HookRunTest, WhatIsNoXmlIsPassedOn) {
  for (const char* operation : {"prepare", "migrate", "restore", "release"}) {
    for (const char* xml : {"", "-", "<domain>", "<domain/>x<", "<network/>", "\xff\xfe"}) {
      reports_.clear();
      EXPECT_EQ(run(operation, xml, "/nonexistent"), kHookDone);
      EXPECT_EQ(out_.str(), "");
      EXPECT_THAT(reports_, ElementsAre(HasSubstr("continuing without it"))) << operation << xml;
    }
  }
}

TEST_F(HookRunTest, ADaemonThatIsAwayIsReportedOnce) {
  EXPECT_EQ(run("prepare", kAsks, "/nonexistent"), kHookDone);
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("at 'prepare' of VM 'web1'")));
}

TEST_F(HookRunTest, AHostThatCannotBeReadLeavesTheXml) {
  host_.remove("sys/devices/system/node/has_memory");
  EXPECT_EQ(run("migrate", kPinnedElsewhere, "/nonexistent"), kHookDone);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("has_memory")));
}

TEST_F(HookRunTest, WithoutAnOperationNothingIsDone) {
  const std::vector<std::string> arguments{"web1"};
  EXPECT_EQ(run_hook(arguments, {-1, out_, host_.path(),
                                 [this](const std::string& text) { reports_.push_back(text); },
                                 kNoHurry, kNow}),
            kHookDone);
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("doing nothing")));
}

/// Time passes only where the hook waits.
class WaitingHookTest : public HookRunTest {
 protected:
  int prepare(const FakeDaemon::Reply& reply) {
    const FakeDaemon daemon(reply);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::tmpfile(), std::fclose);
    std::fputs(wants_.c_str(), input.get());
    std::rewind(input.get());
    const std::vector<std::string> arguments{
        "--socket", daemon.socket_path(), "--", "web1", "prepare", "begin", "-"};
    return run_hook(arguments,
                    {::fileno(input.get()), out_, host_.path(),
                     [this](const std::string& text) { reports_.push_back(text); }, kNoHurry, kNow,
                     [this](std::chrono::milliseconds time) {
                       pauses_.push_back(time);
                       now_ += time;
                       return now_ < caller_ends_;
                     },
                     [this] { return now_; }});
  }
  /// Has it wait unless `last` answers.
  FakeDaemon::Reply waits(
      std::int64_t at_most_ms,
      std::function<std::optional<Result<Answer>>(const AnnounceRequest&)> last) {
    return FakeDaemon::answering(
        [this, at_most_ms, last](const Command& command) -> Result<Answer> {
          if (const auto* withdrawn = std::get_if<balancer::WithdrawRequest>(&command)) {
            withdrawn_.push_back(withdrawn->vm_uuid);
            return Answer(DoneView{});
          }
          const auto& request = std::get<AnnounceRequest>(command);
          could_wait_s_.push_back(request.waits_s);
          if (auto answer = last(request)) {
            return std::move(*answer);
          }
          return Answer(balancer::AnnouncedView{"VM 'web1' waits for room", 1500, at_most_ms});
        });
  }

  std::string wants_ = vm_xml("<vcpu>2</vcpu>",
                              "<metadata><v:policy xmlns:v='https://vmnuma.org/policy/1.0' "
                              "topology_policy='single-numa-node'/></metadata>");
  std::chrono::steady_clock::time_point now_;
  std::vector<std::chrono::milliseconds> pauses_;
  std::vector<std::int64_t> could_wait_s_;
  std::size_t asked_after_ = 0;  ///< so many pauses
  std::chrono::steady_clock::time_point caller_ends_ = std::chrono::steady_clock::time_point::max();
  std::vector<std::string> withdrawn_;
};

TEST_F(WaitingHookTest, AsksAgainUntilThereIsRoom) {
  EXPECT_EQ(prepare(waits(30'000,
                          [this](const AnnounceRequest&) -> std::optional<Result<Answer>> {
                            return could_wait_s_.size() < 3
                                       ? std::nullopt
                                       : std::optional<Result<Answer>>(
                                             Answer(balancer::AnnouncedView{"it fits", {}, {}}));
                          })),
            kHookDone);
  EXPECT_THAT(could_wait_s_, ElementsAre(120, 29, 27));
  EXPECT_THAT(pauses_, testing::Each(std::chrono::milliseconds(1500)));
  EXPECT_THAT(reports_, ElementsAre("VM 'web1' waits for room"));
}

TEST_F(WaitingHookTest, TheCallerIsToldBeforeTheFirstAnswerThatItMayTakeLong) {
  const auto fits = waits(30'000, [this](const AnnounceRequest&) {
    asked_after_ = pauses_.size();
    return std::optional<Result<Answer>>(Answer(balancer::AnnouncedView{"it fits", {}, {}}));
  });
  EXPECT_EQ(prepare(fits), kHookDone);
  EXPECT_EQ(asked_after_, 0U);
  wants_ = vm_xml("<vcpu>2</vcpu>",
                  "<metadata><v:policy xmlns:v='https://vmnuma.org/policy/1.0' "
                  "make_room='before-start' make_room_deadline_s='30'/></metadata>");
  EXPECT_EQ(prepare(fits), kHookDone);
  EXPECT_EQ(asked_after_, 1U);
  EXPECT_THAT(pauses_, ElementsAre(std::chrono::milliseconds(0)));
}

TEST_F(WaitingHookTest, AtTheEndItAsksOnceMoreAndPassesARefusalOn) {
  EXPECT_EQ(prepare(waits(4000,
                          [](const AnnounceRequest& request) -> std::optional<Result<Answer>> {
                            return request.waits_s > 0 ? std::nullopt
                                                       : std::optional<Result<Answer>>(failure(
                                                             ErrorCode::kNoSpace, "no room"));
                          })),
            kHookRefused);
  EXPECT_THAT(could_wait_s_, ElementsAre(120, 3, 1, 0));
  EXPECT_EQ(now_.time_since_epoch(), std::chrono::milliseconds(4000));
  EXPECT_THAT(reports_.back(), HasSubstr("VM 'web1' may not start: no room"));
}

TEST_F(WaitingHookTest, WaitsNoLongerThanAnyVmMayWhateverTheDaemonSays) {
  for (const std::int64_t told : {std::int64_t{-5}, std::int64_t{1} << 60U}) {
    now_ = {};
    EXPECT_EQ(prepare(waits(told, [](const AnnounceRequest&) { return std::nullopt; })), kHookDone);
    EXPECT_LE(now_.time_since_epoch(), std::chrono::milliseconds(120'050));
    EXPECT_EQ(could_wait_s_.back(), 0);
  }
}

TEST_F(WaitingHookTest, ADaemonThatGoesAwayMeanwhileIsAsNone) {
  enforced();
  const auto first = waits(30'000, [](const AnnounceRequest&) { return std::nullopt; });
  EXPECT_EQ(prepare([&](const std::string& line) {
              return could_wait_s_.empty() ? first(line) : std::optional<std::string>("");
            }),
            kHookDone);
  EXPECT_THAT(pauses_, testing::SizeIs(1));
  EXPECT_THAT(reports_.back(), HasSubstr("judging by what the daemon wrote down last"));
}

TEST_F(WaitingHookTest, ForACallerThatIsGoneNothingWaitsAndNothingStaysAnnounced) {
  caller_ends_ = std::chrono::steady_clock::time_point(std::chrono::seconds(2));
  EXPECT_EQ(prepare(waits(30'000, [](const AnnounceRequest&) { return std::nullopt; })), kHookDone);
  EXPECT_THAT(pauses_, testing::SizeIs(2));
  EXPECT_THAT(withdrawn_, ElementsAre(kUuid));
  EXPECT_THAT(reports_.back(), HasSubstr("VM 'web1' no longer waits for room"));
}

/// What Proxmox VE calls, without a standard input.
class PveHookTest : public HookRunTest {
 protected:
  void configure(const std::string& text) {
    host_.write("etc/pve/qemu-server/101.conf",
                "name: web1\ncores: 2\nsmbios1: uuid=" + std::string(kUuid) + "\n" + text);
  }
  int run_phase(const std::string& phase, const std::string& socket,
                const std::string& vmid = "101", std::chrono::milliseconds limit = kNoHurry) {
    const std::vector<std::string> arguments{"--socket", socket, "--pve", "--", vmid, phase};
    return run_hook(arguments,
                    {-1, out_, host_.path(),
                     [this](const std::string& text) { reports_.push_back(text); }, limit, kNow});
  }
  std::vector<Command> commands_at(const std::string& phase,
                                   std::chrono::milliseconds limit = kNoHurry) {
    std::vector<Command> commands;
    const FakeDaemon daemon(
        FakeDaemon::answering([&commands](const Command& command) -> Result<Answer> {
          commands.push_back(command);
          return Answer(DoneView{});
        }));
    EXPECT_EQ(run_phase(phase, daemon.socket_path(), "101", limit), kHookDone);
    return commands;
  }
};

TEST_F(PveHookTest, AVmIsAnnouncedBeforeItsStartAndWithdrawnAfterItsEnd) {
  configure("memory: 301\n#vmnuma%3A nodes=0-1\n");
  AnnounceRequest request = announced(2, 301);
  request.asks = false;  // it is not asked where to start it
  request.policy = {{"nodes", "0-1"}};
  EXPECT_THAT(commands_at("pre-start"), ElementsAre(Command(request)));
  EXPECT_THAT(commands_at("post-stop"), ElementsAre(Command(WithdrawRequest{kUuid})));
  EXPECT_THAT(reports_, IsEmpty());
  EXPECT_EQ(out_.str(), "");
}

TEST_F(PveHookTest, AStartThatMayWaitForRoomGivesTheDaemonTimeToAnswer) {
  const auto commands_without_time = [this](const std::string& policy) {
    configure("memory: 301\n#vmnuma%3A " + policy + "\n");
    return commands_at("pre-start", std::chrono::milliseconds(0));
  };
  EXPECT_THAT(commands_without_time("make_room=before-start make_room_deadline_s=30"),
              testing::SizeIs(1));
  EXPECT_THAT(commands_without_time("make_room=before-start make_room_deadline_s=0"), IsEmpty());
  EXPECT_THAT(commands_without_time("make_room_deadline_s=30"), IsEmpty());
}

TEST_F(PveHookTest, TellsOfDevicesAndHugePages) {
  configure("memory: 1024\nnuma: 1\nhugepages: 2\nhostpci0: 3b:00.0\n");
  host_.write("sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages", "100\n");
  host_.write("sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages", "40\n");
  host_.write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  AnnounceRequest request = announced(2, 1024);
  request.asks = false;
  request.devices = {{"0000:3b:00.0", {1}}};
  request.cells = {{{0, 1}, 1024}};
  request.huge_page_kib = 2048;
  request.huge_pages = {{{0}, 0, 0, 2048}, {{1}, 40, 100, 2048}};
  EXPECT_THAT(commands_at("pre-start"), ElementsAre(Command(request)));
}

TEST_F(PveHookTest, TheOtherPhasesDoNothing) {
  configure("");
  for (const char* phase : {"post-start", "pre-stop", "prepare", "release", "migrate", "x"}) {
    EXPECT_THAT(commands_at(phase), IsEmpty()) << phase;
  }
  EXPECT_THAT(reports_, IsEmpty());
}

TEST_F(PveHookTest, OnlyAVmThatIsNotAdmittedMayNotStart) {
  configure("");
  {
    const FakeDaemon daemon(FakeDaemon::answering([](const Command&) -> Result<Answer> {
      return failure(ErrorCode::kNoSpace, "topology_policy is 'restricted', but ...");
    }));
    EXPECT_EQ(run_phase("pre-start", daemon.socket_path()), kHookRefused);
    EXPECT_THAT(reports_, ElementsAre("VM '101' may not start: topology_policy is 'restricted', "
                                      "but ..."));
    EXPECT_EQ(run_phase("post-stop", daemon.socket_path()), kHookDone);
  }
  for (const ErrorCode code : {ErrorCode::kInvalidArgument, ErrorCode::kBusy,
                               ErrorCode::kPermissionDenied, ErrorCode::kUnsupported}) {
    const FakeDaemon daemon(FakeDaemon::answering(
        [code](const Command&) -> Result<Answer> { return failure(code, "no"); }));
    EXPECT_EQ(run_phase("pre-start", daemon.socket_path()), kHookDone) << name_of(code);
  }
}

TEST_F(PveHookTest, WithoutTheDaemonVmsStart) {
  configure("memory: 65536\n");
  enforced();
  EXPECT_EQ(run_phase("pre-start", "/nonexistent"), kHookDone);
  // One that must be on one node, where no daemon was ever to refuse a VM.
  configure("memory: 65536\n#vmnuma%3A topology_policy=single-numa-node\n");
  known({});
  EXPECT_EQ(run_phase("pre-start", "/nonexistent"), kHookDone);
  // Where one was, its own policy keeps it from starting, as with libvirt.
  enforced();
  EXPECT_EQ(run_phase("pre-start", "/nonexistent"), kHookRefused);
  EXPECT_THAT(reports_.back(), HasSubstr("topology_policy is 'single-numa-node'"));
}

TEST_F(PveHookTest, AConfigurationThatCannotBeReadKeepsNoVmFromStarting) {
  for (const char* vmid : {"101", "web1", "-1", "", "99999999999"}) {
    reports_.clear();
    EXPECT_EQ(run_phase("pre-start", "/nonexistent", vmid), kHookDone) << vmid;
    EXPECT_THAT(reports_, ElementsAre(HasSubstr("continuing without it"))) << vmid;
  }
}

}  // namespace
}  // namespace vmnuma::tools
