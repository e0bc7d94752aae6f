// SPDX-License-Identifier: Apache-2.0
#include "placement/model/options.h"

#include <algorithm>
#include <string>
#include <utility>

#include "placement/base/lower_case.h"
#include "placement/base/mapped.h"
#include "placement/model/suggest.h"

namespace vmnuma {

namespace {

constexpr OptionRow kTable[] = {
    {"Numa.RebalancePeriod", "ms", 100, 60000, &Options::rebalance_period, true,
     "Length of an epoch: how often the balancer looks and decides"},
    {"Numa.RebalanceEnable", "", 0, 1, &Options::rebalance_enable, true,
     "1 lets the balancer place and move clients; 0 only watches"},
    {"Numa.RebalanceCoresTotal", "cores", 1, 32, &Options::rebalance_cores_total, true,
     "Fewest cores of the host for the balancer to move VMs; ESXi's default is 4"},
    {"Numa.RebalanceCoresNode", "cores", 1, 8, &Options::rebalance_cores_node, true,
     "Fewest cores of every node for the balancer to move VMs; ESXi's default is 2"},
    {"Numa.MigImbalanceThreshold", "%", 1, 200, &Options::mig_imbalance_threshold, true,
     "Least imbalance of owed time between two nodes that starts a load move or swap; a third of "
     "this is enough if the imbalance has lasted for minutes, unless Numa.ShortageHalfLife is 0"},
    {"Numa.MigThreshold", "%", 0, 100, &Options::mig_threshold, true,
     "Least improvement of a load move or swap, in per cent of a node's capacity"},
    {"Numa.MigThrashThreshold", "%", 0, 100, &Options::mig_thrash_threshold, true,
     "Most imbalance in the opposite direction that a one-way load move may leave, in per cent of "
     "the imbalance before it"},
    {"Numa.MigPreventLTermThresh", "%", 0, 100, &Options::mig_prevent_lterm_thresh, true,
     "Most increase of long-term imbalance that a load move or swap may cause; 0 = not checked"},
    {"Numa.LTermFairnessInterval", "epochs", 0, 1000, &Options::lterm_fairness_interval, true,
     "Epochs over which owed time is remembered for long-term fairness; 0 = off"},
    {"Numa.LTermMigImbalThreshold", "%", 0, 100, &Options::lterm_mig_imbal_threshold, true,
     "Least difference of long-term owed time that starts a long-term fairness move"},
    {"Numa.SwapLoadEnable", "", 0, 1, &Options::swap_load_enable, true,
     "1 allows swaps of two clients for CPU load"},
    {"Numa.SwapLocalityEnable", "", 0, 1, &Options::swap_locality_enable, true,
     "1 allows swaps of two clients for memory locality"},
    {"Numa.SwapInterval", "epochs", 1, 10000, &Options::swap_interval, true,
     "How often swaps are tried"},
    {"Numa.SwapConsiderPeriod", "epochs", 0, 10000, &Options::swap_consider_period, true,
     "How long a client that was swapped is not considered for a swap again"},
    {"Numa.SwapMigrateOnly", "epochs", 0, 100, &Options::swap_migrate_only, true,
     "How often one-way moves are considered; 0 = no one-way moves"},
    {"Numa.LocalityWeightMem", "", 0, 100, &Options::locality_weight_mem, true,
     "Weight of memory locality against CPU time; 1 = as measured, 0 = locality does not count"},
    {"Numa.LocalityWeightActionAffinity", "", 0, 200, &Options::locality_weight_action_affinity,
     true,
     "Weight of wake-ups between VMs on different nodes: lost time of each in units of 10 ns, so "
     "that 100 is a microsecond; 0 = they do not count"},
    {"Numa.CoreCapRatioPct", "%", 0, 100, &Options::core_cap_ratio_pct, true,
     "Most demand in per cent of a node's cores after a locality move; 0 = not checked"},
    {"Numa.PageMigEnable", "", 0, 1, &Options::page_mig_enable, true,
     "1 lets memory follow its client"},
    {"Numa.PageMigRateMax", "pages/s", 0, 8000000, &Options::page_mig_rate_max, true,
     "Most 4 KiB pages moved per second on the whole host; 0 = as fast as it goes; ESXi's default "
     "is 32000"},
    {"Numa.PreferHT", "", 0, 1, &Options::prefer_ht, true,
     "1 sizes clients by a node's threads instead of its cores"},
    {"Numa.SpillEnable", "", 0, 1, &Options::spill_enable, false,
     "1 lets a client run on idle CPUs of a second node while its home is short of CPU time"},
    {"Numa.SmtGainPct", "%", 0, 100, &Options::smt_gain_pct, false,
     "What the second thread of a core adds to the first"},
    {"Numa.LoadHalfLife", "s", 1, 3600, &Options::load_half_life, false,
     "Half-life of a node's load average"},
    {"Numa.ColdStartPct", "%", 0, 100, &Options::cold_start_pct, false,
     "Assumed load of a new VM until it is measured, in per cent of its vCPUs"},
    {"Numa.MigThresholdCPUs", "CPUs", 0, 8192, &Options::mig_threshold_cpus, false,
     "Limit on the CPUs of a node of which Numa.MigThreshold, for a load move or swap, is a "
     "percentage; 0 = all of the node's CPUs"},
    {"Numa.LocalityMigThreshold", "%", 1, 100, &Options::locality_mig_threshold, false,
     "Least gain in local memory for a locality move or swap"},
    {"Numa.MemStallPct", "%", 0, 100, &Options::mem_stall_pct, false,
     "Share of a VM's run time that is spent waiting for memory, used if it is not measured"},
    {"Numa.Residency", "epochs", 0, 10000, &Options::residency, false,
     "How long a client stays on its node before it may be moved again"},
    {"Numa.LTermRestTimes", "", 0, 1000, &Options::lterm_rest_times, false,
     "How long a VM stays in place before it takes another turn, as a multiple of the time in "
     "which its memory was moved; turns to and from its node are spread over the same time"},
    {"Numa.NoReturn", "epochs", 0, 10000, &Options::no_return, false,
     "How long a client may not return to the node it left"},
    {"Numa.MoveHorizon", "epochs", 1, 10000, &Options::move_horizon, false,
     "Time over which a move must pay for itself"},
    {"Numa.ShortageHalfLife", "s", 0, 3600, &Options::shortage_half_life, false,
     "Half-life of the average that tells how lasting a shortage is; 0 = every shortage counts as "
     "lasting"},
    {"Numa.MoveCostFixed", "us", 0, 10000000, &Options::move_cost_fixed, false,
     "CPU time that any move is assumed to cost"},
    {"Numa.MoveCostPerMiB", "us", 0, 1000000, &Options::move_cost_per_mib, false,
     "CPU time that moving one MiB of memory is assumed to cost"},
    {"Numa.MigrationsPerEpoch", "", 0, 1000, &Options::migrations_per_epoch, false,
     "Most moves begun in one epoch, placements of new VMs not counted; 0 = one for each node that "
     "VMs can live on, but at least 4"},
    {"Numa.NodeReservePct", "%", 0, 50, &Options::node_reserve_pct, false,
     "Memory of each node that moves leave free"},
    {"Numa.PageMigStallTarget", "us", 100, 1000000, &Options::page_mig_stall_target, false,
     "Longest time that one page migration call should take; the size of chunks is chosen "
     "accordingly"},
    {"Numa.PageMigVmRateMax", "pages/s", 0, 8000000, &Options::page_mig_vm_rate_max, false,
     "Most 4 KiB pages moved per second for one VM; 0 = only the host's limit"},
    {"Numa.PageMigPressureMax", "%", 0, 100, &Options::page_mig_pressure_max, false,
     "Share of the time in which some task waits for memory (PSI) above which page migration is "
     "paused; it continues below half of that"},
    {"Numa.PageMigReclaimMax", "1/s", 0, 1000000, &Options::page_mig_reclaim_max, false,
     "How often per second tasks may have to reclaim memory themselves (allocstall in "
     "/proc/vmstat) before page migration is paused; it continues below half of that"},
    {"Numa.AffinityWeight", "%", 0, 1000, &Options::affinity_weight, false,
     "Lost time per broken pair of an affinity group, in per cent of the smaller member's vCPUs, "
     "multiplied by 3 / their number if the group has more than three clients; also that of a VM "
     "with a topology_policy that lives away from its devices, in per cent of its own vCPUs"},
    {"Numa.AntiAffinityWeight", "%", 0, 1000, &Options::anti_affinity_weight, false,
     "Lost time per broken pair of an anti-affinity group, in per cent of the smaller member's "
     "vCPUs"},
    {"Numa.ActionAffinityMax", "%", 0, 100, &Options::action_affinity_max, false,
     "Most that wake-ups of other VMs count for a client, in per cent of its vCPUs"},
    {"Numa.ForecastWeight", "%", 0, 100, &Options::forecast_weight, false,
     "How much of what a move gains must remain with the CPU time that VMs are forecast to use in "
     "the next ten minutes; 0 = forecasts are ignored"},
    {"Numa.ForecastMargin", "%", 0, 100, &Options::forecast_margin, false,
     "Safety margin that is added to a forecast of what 95 of 100 minutes do not exceed, in per "
     "cent of it"},
    {"Numa.BreakerFailures", "", 1, 1000, &Options::breaker_failures, false,
     "Failed or counter-productive actions in a row after which the balancer stops acting; "
     "actions that fail in one epoch count as one"},
    {"Numa.BreakerRest", "epochs", 1, 100000, &Options::breaker_rest, false,
     "How long the balancer then rests before it tries again"},
    {"Numa.MemQosEnable", "", 0, 1, &Options::mem_qos_enable, false,
     "1 protects and limits the memory of VMs that have a memory_class"},
    {"Numa.MemQosThrottlingPct", "%", 1, 100, &Options::mem_qos_throttling_pct, false,
     "Share of the memory between a VM's request and its limit above which it has to give memory "
     "back"},
    {"Numa.MemQosOverhead", "MiB", 0, 1048576, &Options::mem_qos_overhead, false,
     "Memory that a VM is estimated to need beside its guest's: QEMU itself and page tables"},
};

}  // namespace

Options options_of(Preset preset) {
  Options options;
  if (preset == Preset::kEsxi) {
    options.spill_enable = 0;
    options.migrations_per_epoch = kFewestMoves;
    options.shortage_half_life = 0;
    options.mig_threshold_cpus = 0;
    options.page_mig_rate_max = 32000;
    options.forecast_weight = 75;
  }
  return options;
}

std::int64_t migrations_per_epoch(const Options& options, std::int64_t homes) {
  return options.migrations_per_epoch > 0 ? options.migrations_per_epoch
                                          : std::max(homes, kFewestMoves);
}

std::span<const OptionRow> option_table() {
  return kTable;
}

const OptionRow* find_option(std::string_view name) {
  const auto* const option = std::ranges::find(kTable, name, &OptionRow::name);
  return option == std::end(kTable) ? nullptr : option;
}

Result<void> set_option(Options& options, std::string_view name, std::int64_t value) {
  const OptionRow* option = find_option(name);
  if (option == nullptr) {
    std::vector<std::string_view> names =
        mapped<std::string_view>(option_table(), &OptionRow::name);
    return failure(ErrorCode::kNotFound,
                   "there is no option '" + std::string(name) + "'" + did_you_mean(name, names));
  }
  if (value < option->smallest || value > option->largest) {
    return failure(ErrorCode::kInvalidArgument, std::string(name) + " = " + std::to_string(value) +
                                                    " is out of range, it goes from " +
                                                    std::to_string(option->smallest) + " to " +
                                                    std::to_string(option->largest));
  }
  options.*(option->value) = value;
  return {};
}

namespace {

/// Optimal string alignment, case-insensitive: one letter too many, too few or different counts 1,
/// and so do two neighbours swapped.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;  // the row two above
  std::vector<std::size_t> above;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  const auto same = [&](std::size_t i, std::size_t j) {
    return lower_case(a[i]) == lower_case(b[j]);
  };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j - 1] + (same(i - 1, j - 1) ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view word,
                              const std::vector<std::string_view>& candidates) {
  if (word.size() > 200) {
    return {};
  }
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace vmnuma
