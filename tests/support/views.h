// SPDX-License-Identifier: Apache-2.0
/// Views, and a table, in which every field has a value other than its default, except
/// StatusView::nothing_to_balance and recorded_unix_s: a host of four nodes has something to
/// balance, and it is not a recording.
#pragma once

#include "balancer/model/view.h"
#include "stats/reports/report.h"

namespace vmnuma::tests {

inline constexpr std::int64_t kNoonUnixS = 1738324800;  // 2025-01-31T12:00:00Z

inline balancer::StatusView status_view() {
  balancer::StatusView view;
  view.mode = balancer::Mode::kDegraded;
  view.configured_mode = balancer::Mode::kActive;
  view.degraded = {{"libvirt", "the connection is gone, trying again", kNoonUnixS}};
  view.version = "0.1.0";
  view.uri = "qemu:///system";
  view.host_name = "kvm7";
  view.epoch = 1234;
  view.epoch_length_ms = 2000;
  view.late_ms = 7;
  view.late_most_ms = 45;
  view.imbalance_pct = 12;
  view.lost_ms = 431;
  view.nodes = 4;
  view.vms = 21;
  view.clients = 25;
  view.open_actions = 1;
  view.largest_vm = {{2},
                     16,
                     44 * kGiB.value,
                     90 * kGiB.value,
                     {{2 << 20, {0}, 8 * kGiB.value}, {1 << 30, {}, 0}}};
  view.kernel_numa_balancing = 1;
  view.sched_ext = {"rusty", true};
  view.cache_scheduling = CacheScheduling::kOn;
  view.isolated_cpus = {{6}, {7}};
  view.wants_wakeups = true;
  view.wakeup_pairs = 3;
  view.forecasts = {14, 4, 1};
  view.transfers = {{"web1",
                     "c7a5fdbd-edaf-9455-926a-d65c16db1809",
                     1,
                     88,
                     "load-move",
                     {{1}, {3}},
                     "running",
                     3 * kGiB.value,
                     5 * kGiB.value,
                     131072000,
                     41,
                     3,
                     12 * kGiB.value / 1024}};
  view.refused_policies = {
      {"db7", "11111111-2222-3333-4444-555555555555", "there is no policy 'x'"}};
  view.admission = "enforce";
  view.not_admitted = {{"db8", "11111111-2222-3333-4444-555555555556", true,
                        "topology_policy is 'restricted', but ...", 1738324800}};
  view.history = {"/var/lib/vmnuma/history.sqlite", "ok"};
  return view;
}

inline balancer::HostView host_view() {
  balancer::HostView view;
  view.epoch = 1234;
  view.epoch_length_ms = 2000;
  view.lost_total_ms = 98765;
  view.moved_bytes = 11 * kGiB.value;
  view.actions = {{"load-move", "done", 7}, {"load-move", "undone", 1}};
  view.nodes = {{{0},
                 true,
                 8,
                 16,
                 {10, 21},
                 12,
                 83,
                 19200,
                 600,
                 15900,
                 16300,
                 16100,
                 250,
                 64 * kGiB.value,
                 20 * kGiB.value,
                 2 * kGiB.value,
                 9600000,
                 300000,
                 {7950000, 400000, 8050000, 125000},
                 80,
                 3,
                 12,
                 16 * kGiB.value,
                 {{2 << 20, 4 * kGiB.value, kGiB.value, 2 * kGiB.value, kGiB.value},
                  {1 << 30, 8 * kGiB.value, 0, 3 * kGiB.value, 5 * kGiB.value}},
                 16,
                 18 * kGiB.value,
                 kGiB.value / 2},
                {{1},
                 false,
                 8,
                 16,
                 {21, 10},
                 4,
                 21,
                 19100,
                 700,
                 4000,
                 4001,
                 4002,
                 3,
                 64 * kGiB.value,
                 50 * kGiB.value,
                 2 * kGiB.value,
                 9500000,
                 350000,
                 {2000000, 5, 2000001, 6},
                 20,
                 4,
                 4,
                 8 * kGiB.value,
                 {{2 << 20, 2 * kGiB.value, 0, 0}}}};
  view.vms = {{"web1",
               "c7a5fdbd-edaf-9455-926a-d65c16db1809",
               200,
               true,
               "",
               true,
               {{0,
                 12,
                 {0},
                 true,
                 15900,
                 400,
                 16300,
                 16100,
                 250,
                 16 * kGiB.value,
                 {15 * kGiB.value, kGiB.value},
                 93,
                 3,
                 {7950000, 400000, 8050000, 125000}}},
               {Permille{321}, Permille{45}, Permille{6}, Permille{780}, Permille{210}},
               {"0000:3b:00.0"}},
              {"db \"7\"",
               "11111111-2222-3333-4444-555555555555",
               100,
               false,
               "it was released; 'vmnuma manage' takes it back",
               false,
               {{0,
                 4,
                 {-1},
                 false,
                 4000,
                 1,
                 4001,
                 4002,
                 3,
                 8 * kGiB.value,
                 {},
                 std::nullopt,
                 0,
                 {2000000, 5, 2000001, 6}}}}};
  view.vms[0].advice = {{"no-cells", "it lives on 2 nodes, but the guest sees one", true}};
  view.vms_known = true;
  view.distances_measured = true;
  view.admission = "enforce";
  return view;
}

inline balancer::MemoryView memory_view() {
  balancer::MemoryView view;
  view.enabled = true;
  view.memory_bytes = 8192 * kMiB.value;
  view.swap_bytes = 2048 * kMiB.value;
  view.protection_inherited = false;
  view.nodes = {{0}, {3}};
  view.vms = {{"batch",
               "11111111-2222-3333-4444-555555555555",
               "best-effort",
               true,
               1024 * kMiB.value,
               900 * kMiB.value,
               0,
               30 * kMiB.value,
               5 * kMiB.value,
               100 * kMiB.value,
               {0, 900 * kMiB.value},
               0,
               0,
               1152 * kMiB.value,
               4096 * kMiB.value,
               512 * kMiB.value,
               123,
               7,
               200,
               ""},
              {"db",
               "c7a5fdbd-edaf-9455-926a-d65c16db1809",
               "guaranteed",
               true,
               2048 * kMiB.value,
               2000 * kMiB.value,
               48 * kMiB.value,
               0,
               0,
               0,
               {1024 * kMiB.value, 1024 * kMiB.value},
               2304 * kMiB.value,
               kMiB.value,
               std::nullopt,
               std::nullopt,
               0,
               std::nullopt,
               std::nullopt,
               0,
               "PCI device 0000:3b:00.0 is passed through, VFIO pins all memory"},
              {"new",
               "22222222-2222-3333-4444-555555555555",
               "none",
               false,
               64 * kMiB.value,
               std::nullopt,
               std::nullopt,
               std::nullopt,
               std::nullopt,
               std::nullopt,
               {},
               std::nullopt,
               std::nullopt,
               std::nullopt,
               std::nullopt,
               std::nullopt,
               std::nullopt,
               std::nullopt,
               std::nullopt,
               ""}};
  view.reclaimed_first = {{"batch", 900 * kMiB.value, "nothing protects 900 MiB of its memory"},
                          {"db", 0, "memory.min protects all that it has"}};
  view.killed_first = {{"batch", 3048 * kMiB.value,
                        "1000 MiB of memory and swap count, with oom_score_adj 200 as much as "
                        "3048 MiB"},
                       {"db", 2048 * kMiB.value, "2048 MiB of memory and swap count"}};
  return view;
}

inline balancer::PolicyView policy_view() {
  balancer::PolicyView view;
  view.vm = "web1";
  view.vm_uuid = "c7a5fdbd-edaf-9455-926a-d65c16db1809";
  view.metadata_wins = false;
  view.refused = "there is no policy 'colour'";
  view.keys = {{"nodes", "0-1", "", balancer::Origin::kMetadata, "a list of nodes", "Which nodes"},
               {"do_not_move", "true", "false", balancer::Origin::kFile, "true or false", "Stays"},
               {"prefer_ht", "false", "false", balancer::Origin::kDefault, "true or false", "HT"}};
  return view;
}

inline balancer::ExplainView explain_view() {
  balancer::ExplainView view;
  view.vm = "web1";
  view.vm_uuid = "c7a5fdbd-edaf-9455-926a-d65c16db1809";
  view.epoch = 1234;
  view.clients = {
      {0,
       {0, 1, 2, 3},
       {1},
       {{0}, {1}},
       "A load move brought it here because node 0 owed its clients 31 % of its capacity.",
       57,
       3100,
       420,
       3520,
       3400,
       300,
       8 * kGiB.value,
       97},
      {1,
       {4, 5, 7},
       {-1},
       {{0}, {1}},
       "It has no home yet.",
       1,
       5,
       6,
       7,
       8,
       9,
       std::nullopt,
       std::nullopt}};
  view.considered = {{"load-move",
                      0,
                      {1},
                      {0},
                      "",
                      -12,
                      "minimum-gain",
                      "Moving client 0 from node 1 to node 0 would cost 12 ms an epoch; at least 2 "
                      "% are asked for."},
                     {"load-swap",
                      0,
                      {1},
                      {3},
                      "db7/0",
                      210,
                      "",
                      "Swapping it with client 0 of 'db7' saves 210 ms an epoch."}};
  view.memory = "Its memory follows its clients; 97 % of it is local.";
  view.topology = "topology_policy is 'best-effort' and met: all it needs is on node 0";
  view.policy = policy_view();
  return view;
}

inline balancer::HistoryView history_view() {
  balancer::HistoryView view;
  view.moves = {{88,
                 kNoonUnixS,
                 "web1",
                 "c7a5fdbd-edaf-9455-926a-d65c16db1809",
                 1,
                 "load-move",
                 {0},
                 {1},
                 {500, 80, 31, 4, 97, 12, 65},
                 balancer::OutcomeView{498, 95, 30, 5, 97, 99, 8 * kGiB.value, 42000},
                 "done",
                 "8 GiB moved, 12 pages were pinned"},
                {87,
                 kNoonUnixS - 4000,
                 "db7",
                 "11111111-2222-3333-4444-555555555555",
                 2,
                 "initial-placement",
                 {-1},
                 {3},
                 {9, 8, 7, 6, std::nullopt, std::nullopt, 5},
                 std::nullopt,
                 "open",
                 ""}};
  view.truncated = true;
  return view;
}

inline balancer::PlanView plan_view() {
  balancer::PlanView view;
  view.epoch = 1234;
  view.mode = balancer::Mode::kDryRun;
  view.lost_ms = 431;
  view.imbalance_pct = 12;
  view.actions = {{"load-swap",
                   {{"web1", "c7a5fdbd-edaf-9455-926a-d65c16db1809", 0, {1}, {3}, 8 * kGiB.value},
                    {"db7", "11111111-2222-3333-4444-555555555555", 0, {3}, {1}, 2 * kGiB.value}},
                   {500, 80, 31, 4, 97, 12, 65},
                   "Swapping client 0 of 'web1' with client 0 of 'db7' saves 420 ms an epoch."}};
  view.rejections = {{"web1", explain_view().considered.front()}};
  return view;
}

/// Two rows of a shortened numa-clients.
inline stats::Report report() {
  stats::Report report;
  report.type = "numa-clients";
  report.columns = {"groupName", "groupID", "homeNode"};
  report.rows = {{"vm.4711", std::int64_t{13424}, std::int64_t{0}},
                 {"vm.4712", std::int64_t{16408}, std::int64_t{-1}}};
  report.extra_columns = {"vmName"};
  report.extra_cells = {{"web1"}, {"db 7"}};
  return report;
}

inline balancer::OptionsView options_view() {
  return {{{"Numa.MigThreshold", "%", 3, 2, 0, 100, balancer::Origin::kPersisted, true,
            "Least improvement of a load move or swap, in per cent of a node's capacity"},
           {"Numa.BreakerRest", "epochs", 150, 150, 1, 100000, balancer::Origin::kDefault, false,
            "How long the balancer then rests before it tries again"}}};
}

inline balancer::WhatIfView what_if_view() {
  balancer::WhatIfView view;
  view.epoch = 1234;
  view.before = {431, 12, 97};
  view.after = {1205, 31, 88};
  view.homes = {{"new-1",
                 0,
                 16,
                 {1},
                 64 * kGiB.value,
                 4 * kGiB.value,
                 {{{1}, false, 83, 60 * kGiB.value}, {{0}, false, 131, 2 * kGiB.value}}},
                {"new-2", 0, 4, {-1}, kGiB.value, 0, {}}};
  view.plan = plan_view();
  view.plan.epoch = 1235;
  view.notes = {"VM 'new-2' gets no home: no node may be one"};
  return view;
}

}  // namespace vmnuma::tests
