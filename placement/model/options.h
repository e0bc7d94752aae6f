// SPDX-License-Identifier: Apache-2.0
/// Every number that affects a decision, in one table.
///
/// The config check, `vmnuma options`, the man page and the example config are made from the table.
/// Where ESXi has the option, name, default and range are ESXi's (public lists of advanced
/// settings, 6.0U3 to 9.0.1; PageMigRateMax as in 9.0; LocalityWeightActionAffinity, 130 until 9.0,
/// is off as in 9.1: it made VMs that talk to each other pile up on one node); the others carry our
/// names under the same prefix. All values are integers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "placement/base/names.h"
#include "placement/base/result.h"

namespace vmnuma {

/// The values of options that are not set. kVmnuma: our defaults. kEsxi: decisions follow ESXi's
/// rules as far as they are public: clients never run outside their homes, a shortage is assumed to
/// last, memory moves at ESXi's rate.
enum class Preset { kVmnuma, kEsxi };
[[nodiscard]] constexpr auto names(Preset) {
  return names_in_order<Preset>("vmnuma", "esxi");
}

struct Options {
  // Options that ESXi has under the same name.
  std::int64_t rebalance_period = 2000;
  std::int64_t rebalance_enable = 1;
  // ESXi requires 4 and 2. With these, VMs on smaller hosts could never leave their first home,
  // because vmnuma places VMs there as well.
  std::int64_t rebalance_cores_total = 1;
  std::int64_t rebalance_cores_node = 1;
  std::int64_t mig_imbalance_threshold = 10;
  std::int64_t mig_threshold = 2;
  std::int64_t mig_thrash_threshold = 50;
  std::int64_t mig_prevent_lterm_thresh = 0;
  std::int64_t lterm_fairness_interval = 5;
  std::int64_t lterm_mig_imbal_threshold = 10;
  std::int64_t swap_load_enable = 1;
  std::int64_t swap_locality_enable = 1;
  std::int64_t swap_interval = 3;
  std::int64_t swap_consider_period = 15;
  std::int64_t swap_migrate_only = 2;
  std::int64_t locality_weight_mem = 1;
  std::int64_t locality_weight_action_affinity = 0;
  std::int64_t core_cap_ratio_pct = 90;
  std::int64_t page_mig_enable = 1;
  std::int64_t page_mig_rate_max = 256000;
  std::int64_t prefer_ht = 0;

  // Our own.
  std::int64_t spill_enable = 1;
  std::int64_t smt_gain_pct = 25;
  std::int64_t load_half_life = 60;
  std::int64_t cold_start_pct = 50;
  // Half of a CPU with the default of mig_threshold. Otherwise a VM of one or two vCPUs could never
  // gain enough on a larger node, and a node full of such VMs would keep any shortage.
  std::int64_t mig_threshold_cpus = 25;
  std::int64_t locality_mig_threshold = 20;
  std::int64_t mem_stall_pct = 30;
  std::int64_t residency = 5;
  std::int64_t lterm_rest_times = 4;
  std::int64_t no_return = 15;
  std::int64_t move_horizon = 30;
  std::int64_t shortage_half_life = 10;
  std::int64_t move_cost_fixed = 20000;
  std::int64_t move_cost_per_mib = 500;
  std::int64_t migrations_per_epoch = 0;
  std::int64_t node_reserve_pct = 2;
  std::int64_t page_mig_stall_target = 5000;
  std::int64_t page_mig_vm_rate_max = 0;
  std::int64_t page_mig_pressure_max = 10;
  std::int64_t page_mig_reclaim_max = 50;
  std::int64_t affinity_weight = 10;
  std::int64_t anti_affinity_weight = 10;
  std::int64_t action_affinity_max = 5;
  std::int64_t forecast_weight = 20;
  std::int64_t forecast_margin = 0;
  std::int64_t breaker_failures = 5;
  std::int64_t breaker_rest = 150;
  std::int64_t mem_qos_enable = 0;
  std::int64_t mem_qos_throttling_pct = 90;
  std::int64_t mem_qos_overhead = 256;

  bool operator==(const Options&) const = default;
};

[[nodiscard]] Options options_of(Preset preset);

/// Returns how many moves may begin in one epoch if VMs can live on `homes` nodes:
/// Numa.MigrationsPerEpoch if it is set, else one per node, but at least kFewestMoves.
[[nodiscard]] std::int64_t migrations_per_epoch(const Options& options, std::int64_t homes);
inline constexpr std::int64_t kFewestMoves = 4;

/// One row of the table.
struct OptionRow {
  std::string_view name;  ///< "Numa.MigImbalanceThreshold"
  std::string_view unit;  ///< "%", "ms", "epochs", "" for a plain number or a switch
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  std::int64_t Options::*value = nullptr;  ///< its member; the default is Options{}'s
  bool from_esxi = false;
  std::string_view help;
};

/// Returns all options, ESXi's first, each group in the order of the struct.
[[nodiscard]] std::span<const OptionRow> option_table();

/// Returns the row with that exact name, or null.
[[nodiscard]] const OptionRow* find_option(std::string_view name);

/// Sets one option by name. Errors: not-found (names the nearest valid name), invalid-argument
/// (names the range). `options` is untouched on error.
[[nodiscard]] Result<void> set_option(Options& options, std::string_view name, std::int64_t value);

/// Returns the candidate with the smallest edit distance to `word` if it is near enough to be a
/// likely typo, or an empty view.
[[nodiscard]] std::string_view nearest_name(std::string_view word,
                                            const std::vector<std::string_view>& candidates);

}  // namespace vmnuma
