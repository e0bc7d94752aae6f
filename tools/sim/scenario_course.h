// SPDX-License-Identifier: Apache-2.0
/// What a scenario has happen to its host: VMs start and stop, loads change, faults begin, end and
/// strike.
///
/// Problem: a run in virtual time and a host that lives in real time must have the same happen to
/// them. Approach: whoever drives the host says when an epoch begins, and passes on to the daemon
/// what concerns that. Terms: a fault *strikes* if it happens in the midst of an epoch, at a time
/// that only the seed decides. Properties:
///  - equal calls make equal things happen;
///  - all that happens is told as news.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/sample.h"
#include "tools/sim/host/sim_host.h"
#include "tools/sim/scenario/random.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// In how many parts an epoch passes.
inline constexpr std::int64_t kWhilesPerEpoch = 10;

class ScenarioCourse {
 public:
  /// Of a fault that begins or ends.
  using OnFault = std::function<void(const Fault& fault, bool begins)>;

  /// Both must outlive this object.
  ScenarioCourse(const Scenario& scenario, SimHost& host);

  /// When epoch `epoch` begins, counted from the start.
  [[nodiscard]] placement::Microseconds time_of(std::int64_t epoch) const;
  /// Loads are those of this epoch, and VMs stop and start. In order, from 0.
  void begin_epoch(std::int64_t epoch);
  /// Those of this epoch. `on_fault` is told of each that lasts, after the host has it.
  void begin_and_end_faults(std::int64_t epoch, const OnFault& on_fault);
  /// When the next one does; nothing if none is left in the epochs that have begun.
  [[nodiscard]] std::optional<placement::Microseconds> next_strike() const;
  /// It does. A VM vanishes with this; a daemon that dies is for the caller.
  Fault strike();
  /// Takes out of it what is stale in this epoch.
  void spoil(std::int64_t epoch, placement::Sample& sample) const;

  /// As Scenario::vms: of the last run, once the VM has started.
  [[nodiscard]] const std::optional<placement::VmId>& id_of(std::size_t vm) const {
    return ids_[vm];
  }
  /// What happened since the last call.
  [[nodiscard]] std::vector<std::string> take_news();

 private:
  /// Something that happens in the midst of the epoch.
  struct Strike {
    placement::Microseconds at;
    Fault fault;
  };
  void begin_talks(std::size_t vm);
  void set_fault(const Fault& fault, bool begins);

  const Scenario& scenario_;
  SimHost& host_;
  Random random_;
  std::vector<std::optional<placement::VmId>> ids_;
  std::vector<Strike> strikes_;  ///< earliest first
  std::vector<std::string> news_;
};

}  // namespace vmnuma::tools
