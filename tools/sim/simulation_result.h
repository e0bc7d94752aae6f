// SPDX-License-Identifier: Apache-2.0
/// The result of a simulation: the object of `vmnuma sim run --json`, and its summary for humans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "tools/sim/checks/predictions.h"

namespace vmnuma::tools {

/// A share, or a mean of shares over epochs, in thousandths of a per cent (10^-5).
using Percentage = Amount<struct PercentageUnit>;
/// Returns part / whole; nothing if `whole` is not positive.
[[nodiscard]] std::optional<Percentage> percentage_of(std::int64_t part, std::int64_t whole);
/// Returns the share in per cent, rounded to hundredths.
[[nodiscard]] double two_digits(Percentage share);

struct Course {
  Percentage start;
  Percentage mean;
  Percentage end;
};

struct VmResult {
  std::string name;
  std::vector<NodeId> homes;  ///< by client, at the VM's end; negative means none
  Percentage used;            ///< of its vCPUs, in core time, mean over its life
  Percentage worked;          ///< likewise, minus what was lost to far memory and similar causes
  Percentage entitled;
  Percentage
      waited;  ///< in per cent of the time its vCPUs ran or wanted to run, as the kernel counts it
  Percentage locality;  ///< at its end
  std::int64_t moves = 0;
};

struct SimulationResult {
  std::string scenario;
  std::string policy;  ///< its name in `sim compare`
  std::uint64_t seed = 0;
  std::int64_t epochs = 0;
  std::int64_t moves = 0;
  std::int64_t swaps = 0;
  std::int64_t locality_moves = 0;
  std::int64_t long_term_moves = 0;
  Bytes moved;
  Bytes below_reserve;  ///< part of it, moved to nodes that then had less free memory than their
                        ///< reserve
  Course imbalance;
  Course locality;
  Percentage owed;  ///< in per cent of what all VMs wanted in all epochs, like `lost`
  Percentage lost;
  std::int64_t last_move_epoch = -1;
  std::int64_t node_changes =
      0;  ///< how often a VM began to run mainly on another node, for any reason
  std::vector<PredictedAction> predictions;  ///< of actions that were carried out and measured
  std::vector<VmResult> vms;
  std::vector<std::string> violations;
};

/// Returns one line, without a line end.
[[nodiscard]] std::string to_json(const SimulationResult& result);
/// Returns several lines, each terminated by '\n'.
[[nodiscard]] std::string to_text(const SimulationResult& result);

}  // namespace vmnuma::tools
