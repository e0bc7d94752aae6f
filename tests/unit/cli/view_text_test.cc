// SPDX-License-Identifier: Apache-2.0
// The whole text of each command for a view with everything in it: what people see is part of the
// contract.
#include "tools/vmnuma/text/view_text.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/time_zone.h"
#include "tests/support/views.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {
namespace {

class ViewTextTest : public ::testing::Test {
 private:
  tests::TimeZone zone_{"UTC"};
};

TEST_F(ViewTextTest, StatusWithTransfers) {
  EXPECT_EQ(text_of(tests::status_view()), R"(Mode        degraded (configured: active)
            libvirt: the connection is gone, trying again (since 2025-01-31
            12:00:00)
Version     0.1.0
Hypervisor  qemu:///system
Host        kvm7: 4 nodes, 21 VMs, 25 clients
Epoch       1234, one every 2000 ms
Lateness    7 ms in the last epoch, 45 ms at most
Imbalance   12 %
Lost time   431 ms per epoch
Actions     1 under way
Largest VM  16 vCPUs, 44.0 GiB on node 2 (90.0 GiB on all nodes together)
            8.0 GiB on pages of 2.0 MiB on node 0
Kernel      its own NUMA balancing is on (1)
            the sched_ext scheduler 'rusty' runs all threads: it respects pins,
            but weights and quotas of VMs only if it implements them; the
            kernel's NUMA balancing and cache-aware scheduling are inactive
            meanwhile, so switching them off changes nothing
            its cache-aware scheduling is on: within its pins, a VM with few
            busy threads is drawn to one last-level cache, if its memory fits
            there
Isolated    CPUs 6-7 are kept from VMs ('vmnuma doctor' says why)
Wake-ups    counted, 3 pairs of VMs
Forecasts   of 19 VMs: 14 trained, 4 histogram, 1 last maximum
Admission   enforce
History     /var/lib/vmnuma/history.sqlite: ok
The policy in the metadata of VM db7 is refused: there is no policy 'x'
VM db8 was refused to start at 2025-01-31 12:00:00: topology_policy is
'restricted', but ...

Memory being moved:
VM/CLIENT  ACTION  TO   STATE       DONE     LEFT         RATE  ENDS IN
web1/1         88  1,3  running  3.0 GiB  5.0 GiB  125.0 MiB/s     41 s
Action 88: 3 calls took longer than Numa.PageMigStallTarget
Action 88: 12.0 MiB could not be moved, at least for now
)");
}

TEST_F(ViewTextTest, MemoryThatWasNotCountedYetIsNotNothing) {
  balancer::StatusView view = tests::status_view();
  balancer::TransferView& transfer = view.transfers[0];
  transfer.bytes_done = transfer.bytes_remaining = transfer.rate_bytes_per_second = 0;
  transfer.seconds_left.reset();
  EXPECT_THAT(text_of(view), ::testing::ContainsRegex("\nweb1/1 +88 +1,3 +running +- +- +- +-\n"));
}

TEST_F(ViewTextTest, StatusSaysWhyATransferIsTriedAgain) {
  balancer::StatusView view = tests::status_view();
  view.transfers[0].problem = "its set of memory nodes could not be narrowed: no answer";
  EXPECT_THAT(text_of(view),
              ::testing::HasSubstr("\nAction 88: its set of memory nodes could not be "
                                   "narrowed: no answer; it is tried again\n"));
}

TEST_F(ViewTextTest, StatusHasTheTenTransfersThatLastLongest) {
  balancer::StatusView view = tests::status_view();
  const balancer::TransferView transfer = view.transfers[0];
  view.transfers.clear();
  for (std::int32_t i = 0; i < 400; ++i) {
    view.transfers.push_back(transfer);
    view.transfers.back().client = i;
    view.transfers.back().seconds_left = i;
    view.transfers.back().stalls = 0;
    view.transfers.back().unmovable_bytes = 0;
  }
  const std::string text = text_of(view);
  EXPECT_THAT(text, ::testing::ContainsRegex("ENDS IN\nweb1/399 "));
  EXPECT_THAT(text, ::testing::ContainsRegex("\nweb1/390 [^\n]* 390 s\n"
                                             "and 390 more \\('vmnuma top'\\)\n$"));
}

TEST_F(ViewTextTest, StatusSaysThatThereIsNothingToBalanceAndStillShowsAllFigures) {
  balancer::StatusView view = tests::status_view();
  view.mode = balancer::Mode::kActive;
  view.degraded.clear();
  view.nothing_to_balance = "nothing to balance: only node 0 has CPUs";
  const std::string text = text_of(view);
  EXPECT_THAT(text, ::testing::StartsWith("Mode        active\n"
                                          "            nothing to balance: only node 0 has CPUs\n"
                                          "Version     0.1.0\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("\nLost time   431 ms per epoch\n"));
}

TEST_F(ViewTextTest, StatusOfARecordingSaysWhenItWasMade) {
  balancer::StatusView view = tests::status_view();
  EXPECT_THAT(text_of(view), ::testing::Not(::testing::HasSubstr("Recorded")));
  view.recorded_unix_s = tests::kNoonUnixS;
  EXPECT_THAT(text_of(view), ::testing::HasSubstr("\nRecorded    2025-01-31 12:00:00\n"));
}

TEST_F(ViewTextTest, StatusSaysWhatTheStartHasSetAside) {
  balancer::StatusView view = tests::status_view();
  view.mode = balancer::Mode::kActive;
  view.degraded.clear();
  view.notices = {"'options.toml' was set aside"};
  EXPECT_THAT(text_of(view), ::testing::StartsWith("Mode        active\n"
                                                   "            'options.toml' was set aside\n"
                                                   "Version     0.1.0\n"));
}

TEST_F(ViewTextTest, StatusSaysWhatAffinityIsKnownFromWhereItMatters) {
  balancer::StatusView view = tests::status_view();
  view.wakeup_pairs = 1;
  EXPECT_THAT(text_of(view), ::testing::HasSubstr("\nWake-ups    counted, 1 pair of VMs\n"));
  view.wakeup_pairs.reset();
  EXPECT_THAT(text_of(view),
              ::testing::HasSubstr("\nWake-ups    not counted: declared affinity groups only "
                                   "(vmnuma-wakeups.service)\n"));
  view.wants_wakeups = false;
  EXPECT_THAT(text_of(view), ::testing::Not(::testing::HasSubstr("Wake-ups")));
}

TEST_F(ViewTextTest, MemoryQosThatIsOffSaysHowItIsSwitchedOn) {
  auto view = tests::memory_view();
  view.enabled = false;
  EXPECT_THAT(
      text_of(view),
      ::testing::HasSubstr(
          "Memory QoS is off, the host has 8.0 GiB of memory and 2.0 GiB of "
          "swap\n'vmnuma options set Numa.MemQosEnable 1' switches it on, see vmnuma(7)\n"));
}

TEST_F(ViewTextTest, MemoryWithVictims) {
  EXPECT_EQ(text_of(tests::memory_view()),
            R"(Memory QoS is on, the host has 8.0 GiB of memory and 2.0 GiB of swap
cgroup v2 is mounted without memory_recursiveprot: nothing protects QEMU.

VM     CLASS             ANON      FILE       SWAP    SOME   FULL  OOM
batch  best-effort  900.0 MiB  30.0 MiB  100.0 MiB  12.3 %  0.7 %  200
db     guaranteed     2.0 GiB       0 B        0 B       -      -    0
new    none                 -         -          -       -      -    -

VM         MIN      LOW     HIGH      MAX   SWAP MAX
batch        -        -  1.1 GiB  4.0 GiB  512.0 MiB
db     2.2 GiB  1.0 MiB        -        -        0 B
new          -        -        -        -          -

VM     BY NODE
batch  3: 900.0 MiB
db     0: 1.0 GiB, 3: 1.0 GiB
new    -

Not throttled
  db is never throttled: PCI device 0000:3b:00.0 is passed through, VFIO pins
  all memory

Whose memory is taken first
  1. batch: nothing protects 900 MiB of its memory
  2. db: memory.min protects all that it has

Which VM is killed first if that is not enough
  1. batch: 1000 MiB of memory and swap count, with oom_score_adj 200 as much as
  3048 MiB
  2. db: 2048 MiB of memory and swap count
)");
}

TEST_F(ViewTextTest, VictimsThatAreNotKnownAreNotNone) {
  auto view = tests::memory_view();
  view.killed_first.clear();
  EXPECT_THAT(text_of(view), ::testing::EndsWith("not enough\n  none\n"));
  view.reclaimed_first.clear();
  EXPECT_THAT(text_of(view), ::testing::HasSubstr("taken first\n  not known\n"));
  EXPECT_THAT(text_of(view), ::testing::EndsWith("not enough\n  not known\n"));
}

TEST_F(ViewTextTest, ExplainWithClientsAndCandidates) {
  EXPECT_EQ(text_of(tests::explain_view()),
            R"(VM web1 (c7a5fdbd-edaf-9455-926a-d65c16db1809), epoch 1234

Client 0: vCPUs 0-3, on node 1 for 57 epochs, may use nodes 0-1
  A load move brought it here because node 0 owed its clients 31 % of its
  capacity.
  Thread time in the last epoch: used 3100 ms, ready 420 ms, demand 3520 ms;
  core time: entitled 3400 ms, owed 300 ms
  memory: 8.0 GiB, 97 % of it local

Client 1: vCPUs 4-5,7, no home yet, may use nodes 0-1
  It has no home yet.
  Thread time in the last epoch: used 5 ms, ready 6 ms, demand 7 ms;
  core time: entitled 8 ms, owed 9 ms
  memory: -, locality not known

Memory
  Its memory follows its clients; 97 % of it is local.

Topology
  topology_policy is 'best-effort' and met: all it needs is on node 0

Policy
  the policy in its metadata is refused: there is no policy 'colour'
  nodes = 0-1 (metadata)
  do_not_move = true (file)

Moves to other nodes, each judged by itself, best first
  load-move of client 0, node 1 to 0: costs 12 ms per epoch, stopped by
  minimum-gain
    Moving client 0 from node 1 to node 0 would cost 12 ms an epoch; at least 2
    % are asked for.
  load-swap of client 0 with db7/0, node 1 to 3: saves 210 ms per epoch, no rule
  forbids it
    Swapping it with client 0 of 'db7' saves 210 ms an epoch.
)");
}

TEST_F(ViewTextTest, ExplainNamesTheVmsThatAVmTalksTo) {
  auto view = tests::explain_view();
  view.talks = {{"db7", "", 61'234, 100},
                {"db8", "", 400, 0},
                {"wide", "", 300, 50},
                {"new", "", 200, std::nullopt}};
  EXPECT_THAT(text_of(view), ::testing::HasSubstr(R"(
Talks most to
  VM 'db7': 61234 wake-ups a second, on the same node
  VM 'db8': 400 wake-ups a second, on different nodes
  VM 'wide': 300 wake-ups a second, 50 % of them on the same node
  VM 'new': 200 wake-ups a second, not all have homes yet

)"));
}

TEST_F(ViewTextTest, ExplainShowsTheDevicesAndWhatToDoAboutTheirInterrupts) {
  auto view = tests::explain_view();
  view.devices = {{"PCI device",
                   "0000:3b:00.0",
                   {1},
                   {{{57}, "vfio-msix[0](0000:3b:00.0)", "2", {0}}},
                   "interrupt 57 (vfio-msix[0](0000:3b:00.0)) fires on node 0 (CPUs 2), but the VM "
                   "lives on node 1: run irqbalance"},
                  {"disk", "mapper/vg-root", {-1}, {}, ""}};
  EXPECT_THAT(text_of(view), ::testing::HasSubstr(R"(
Devices
  PCI device 0000:3b:00.0: on node 1
    interrupt 57 (vfio-msix[0](0000:3b:00.0)) fires on node 0 (CPUs 2), but the
    VM lives on node 1: run irqbalance
  disk mapper/vg-root: node not known

)"));
}

TEST_F(ViewTextTest, PolicyOfAVm) {
  EXPECT_EQ(text_of(tests::policy_view()),
            R"(VM web1 (c7a5fdbd-edaf-9455-926a-d65c16db1809)
The policy in its metadata is refused, and it is left where it is: there is no
policy 'colour'
Metadata does not count, because metadata_wins is false.

KEY          VALUE  FROM      ALLOWED
nodes        0-1    metadata  a list of nodes
do_not_move  true   file      true or false
prefer_ht    false  default   true or false
)");
}

TEST_F(ViewTextTest, HistoryInATable) {
  EXPECT_EQ(text_of(tests::history_view()),
            R"(TIME                 VM/CLIENT  REASON             MOVE  STATE  SAVED(ms)
2025-01-31 12:00:00  web1/1     load-move          0>1   done     420/403
2025-01-31 10:53:20  db7/2      initial-placement  ->3   open         1/-
There are more; choose which to show with --limit, --since and --until.
)");
}

TEST_F(ViewTextTest, PlanWithActionsAndRejections) {
  EXPECT_EQ(text_of(tests::plan_view()),
            R"(Plan of epoch 1234: lost time 431 ms per epoch, imbalance 12 %
The balancer is in mode dry-run.

Actions
  1. load-swap
     web1 client 0: node 1 to 3, 8.0 GiB of memory
     db7 client 0: node 3 to 1, 2.0 GiB of memory
     lost time per epoch 500 ms to 80 ms, imbalance 31 % to 4 %,
     locality 97 % to 12 %, costs 65 ms once
     Swapping client 0 of 'web1' with client 0 of 'db7' saves 420 ms an epoch.

Not taken, best first
  load-move of web1/0, node 1 to 0: costs 12 ms per epoch, stopped by
  minimum-gain
    Moving client 0 from node 1 to node 0 would cost 12 ms an epoch; at least 2
    % are asked for.
)");
}

TEST_F(ViewTextTest, WhatWouldBe) {
  const std::string text = text_of(tests::what_if_view());
  EXPECT_EQ(text.substr(0, text.find("\nActions\n")), R"(Epoch 1234       now  supposed
Lost time        431      1205  ms per epoch
Imbalance         12        31  %
Locality          97        88  %

Notes
  VM 'new-2' gets no home: no node may be one

Homes of new VMs
  new-1/0, 16 vCPUs, 64.0 GiB: node 1, which has no room for 4.0 GiB of its
  memory
    node 1: load 83 % with it, room for 60.0 GiB, too little
    node 0: load 131 % with it, room for 2.0 GiB, too little
  new-2/0, 4 vCPUs, 1.0 GiB: no home

Plan of epoch 1235: lost time 431 ms per epoch, imbalance 12 %
The balancer is in mode dry-run.
)");
}

TEST_F(ViewTextTest, ClientsOfANewVmThatAreAlikeAreOneEntry) {
  balancer::WhatIfView view = tests::what_if_view();
  view.homes = {{"new-1", 0, 8, {1}, 4 * kGiB.value, 0, {{{1}, true, 50, 6 * kGiB.value}}}};
  for (std::int32_t client = 1; client < 40; ++client) {
    view.homes.push_back(view.homes.front());
    view.homes.back().client = client;
    view.homes.back().elsewhere_bytes = 4 * kGiB.value;
    view.homes.back().considered = {{{1}, false, 50 + client, 0}};
  }
  EXPECT_THAT(text_of(view), ::testing::HasSubstr(R"(
Homes of new VMs
  new-1/0, 8 vCPUs, 4.0 GiB: node 1
    node 1: load 50 % with it, room for 6.0 GiB
  new-1/1-39, 8 vCPUs, 4.0 GiB each: node 1, which has no room for 4.0 GiB of
  the memory
    node 1: load 89 % with the last of them, room for 0 B, too little

)"));
}

TEST_F(ViewTextTest, ReservationsInCsvHaveNoWordsForPeople) {
  balancer::ReservationsView view;
  balancer::ReservationView& row = view.reservations.emplace_back();
  row.name = "tonight";
  row.owner = "acme";
  row.vcpus = 8;
  row.memory = {{{0}, 0, kGiB.value}, {{1}, 2 << 20, kGiB.value}};
  EXPECT_EQ(text_of(listing_of(view), ListFormat::kCsv),
            "name,vm,group,owner,vcpus,memory_bytes,taken_bytes,nodes,until,served,memory\n"
            "tonight,,,acme,8,2147483648,,0-1,,0,0:1073741824 1:1073741824:2097152\n");
}

TEST_F(ViewTextTest, OptionsInATable) {
  EXPECT_EQ(text_of(tests::options_view()),
            R"(NAME               VALUE  UNIT    DEFAULT  RANGE      FROM
Numa.MigThreshold      3  %             2  0..100     persisted
Numa.BreakerRest     150  epochs      150  1..100000  default
)");
}

TEST_F(ViewTextTest, OneOptionInTheFormOfVsish) {
  EXPECT_EQ(text_of(tests::options_view().options.front()), R"(Numa.MigThreshold = 3 % (persisted)
   Default value:2
   Min value:0
   Max value:100
   Current value:3
   Description:Least improvement of a load move or swap, in per cent of a node's capacity
)");
}

TEST_F(ViewTextTest, EmptyViewsSaySo) {
  EXPECT_EQ(text_of(balancer::HistoryView{}), "No moves.\n");
  EXPECT_THAT(text_of(balancer::PlanView{}),
              ::testing::HasSubstr("Actions\n  none\n\nNot taken, best first\n  none\n"));
  EXPECT_THAT(text_of(balancer::ExplainView{}), ::testing::HasSubstr("best first\n  nothing\n"));
}

TEST_F(ViewTextTest, ActiveModeNeedsNoWords) {
  balancer::PlanView view;
  view.mode = balancer::Mode::kActive;
  EXPECT_THAT(text_of(view), ::testing::Not(::testing::HasSubstr("mode")));
}

TEST_F(ViewTextTest, DoneNamesItsAction) {
  EXPECT_EQ(text_of(balancer::DoneView{"client 0 of 'web1' moves to node 1", 12}),
            "client 0 of 'web1' moves to node 1 (action 12)\n");
  EXPECT_EQ(text_of(balancer::DoneView{"paused", std::nullopt}), "paused\n");
}

TEST_F(ViewTextTest, WhatWasNotPredictedIsADash) {
  balancer::HistoryView view;
  view.moves.emplace_back();
  view.moves[0].vm = "web1";
  view.moves[0].reason = "initial-placement";
  view.moves[0].state = "open";
  EXPECT_THAT(text_of(view), ::testing::HasSubstr(" -/-\n"));
}

TEST_F(ViewTextTest, FiguresOfASwapAreOnItsFirstRowOnly) {
  balancer::HistoryView view = tests::history_view();
  view.moves.resize(1);
  view.moves.push_back(view.moves[0]);
  view.moves[1].vm = "db7";
  EXPECT_THAT(text_of(view), ::testing::ContainsRegex("web1/1 .* done +420/403\n.*"
                                                      "db7/1 .* done +-\n"));
  const std::string csv = text_of(listing_of(view), ListFormat::kCsv);
  EXPECT_THAT(csv,
              ::testing::ContainsRegex("web1,load-move,1,done,403,88,1,0,,420,8589934592,42000,"));
  EXPECT_THAT(csv, ::testing::ContainsRegex("db7,load-move,1,done,,88,1,0,,,,,"));
}

TEST_F(ViewTextTest, ASpillIsItsHomeAndTheSecondNode) {
  balancer::HistoryView view;
  view.moves.emplace_back();
  view.moves[0].reason = "spill";
  view.moves[0].state = "done";
  view.moves[0].from = view.moves[0].to = NodeId{0};
  view.moves[0].spills_to = NodeId{3};
  EXPECT_THAT(text_of(view), ::testing::ContainsRegex("spill +0\\+3 +done"));
}

TEST_F(ViewTextTest, HistoryTellsWhyAMoveWasNotDone) {
  balancer::HistoryView view;
  view.moves.emplace_back();
  view.moves[0].vm = "web1";
  view.moves[0].state = "dropped";
  view.moves[0].detail = "node 1 has no room for 8 GiB any more";
  EXPECT_THAT(text_of(view),
              ::testing::HasSubstr("\ndropped web1/0: node 1 has no room for 8 GiB any more\n"));
}

TEST_F(ViewTextTest, ATableWithNamesOfVmsShowsThemAsTheyAre) {
  stats::Report report = tests::report();
  report.columns = {"vmName", "clientID"};
  report.rows = {{"größe 1", std::int64_t{0}}, {"b", stats::NoValue{}}};
  EXPECT_EQ(text_of(report), "vmName   clientID\ngröße 1  0\nb        -\n");
}

TEST_F(ViewTextTest, WideCharactersTakeTwoColumnsOfATable) {
  EXPECT_EQ(width_of("größe 虚拟机"), 12U);
  EXPECT_EQ(first_columns("虚拟机", 5), "虚拟");
  auto options = tests::options_view();
  options.options.resize(1);
  options.options[0].name = "虚拟机";
  options.options[0].unit = "拟";
  EXPECT_EQ(text_of(options),
            "NAME    VALUE  UNIT  DEFAULT  RANGE   FROM\n"
            "虚拟机      3  拟          2  0..100  persisted\n");
}

TEST_F(ViewTextTest, LongNamesAreNotCut) {
  const std::string name(200, 'v');
  auto status = tests::status_view();
  status.transfers[0].vm = name;
  EXPECT_THAT(text_of(status), ::testing::HasSubstr(name));
  auto history = tests::history_view();
  history.moves[0].vm = name;
  EXPECT_THAT(text_of(history), ::testing::HasSubstr(name));
  auto memory = tests::memory_view();
  memory.vms[0].vm = name;
  EXPECT_THAT(text_of(memory), ::testing::HasSubstr(name));
}

TEST_F(ViewTextTest, NamesCannotSteerTheTerminal) {
  const std::string name = "\x1b]0;title\x07";
  auto status = tests::status_view();
  status.transfers[0].vm = name;
  status.degraded[0].reason = name;
  auto explain = tests::explain_view();
  explain.vm = explain.memory = name;
  explain.considered[0].partner = explain.clients[0].why = name;
  auto history = tests::history_view();
  history.moves[1].vm = history.moves[1].detail = name;
  auto plan = tests::plan_view();
  plan.actions[0].relocations[0].vm = plan.actions[0].sentence = plan.rejections[0].vm = name;
  for (const std::string& text : {text_of(status), text_of(explain), text_of(history),
                                  text_of(plan), text_of(balancer::DoneView{name, std::nullopt})}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace vmnuma::tools
