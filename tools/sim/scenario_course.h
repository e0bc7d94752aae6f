// SPDX-License-Identifier: Apache-2.0
/// Carries out a scenario on its host: VMs start and stop, loads change, faults begin, end and
/// strike.
///
/// Problem: the same events must happen in virtual time and on a host in real time. Approach: the
/// caller, which drives the host, says when an epoch begins and informs the daemon.
///
/// Terms: a fault *strikes* if it happens in the middle of an epoch, at a time that depends only on
/// the seed.
///
/// Properties:
///  - equal calls have equal effects;
///  - everything that happens is reported as news.
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

/// The number of whiles in an epoch.
inline constexpr std::int64_t kIntervalsPerEpoch = 10;

class ScenarioCourse {
 public:
  /// Called when a fault begins or ends. `is_on` is also true if it ends while another of its kind
  /// on the same VM or node lasts.
  using OnFault = std::function<void(const Fault& fault, bool is_on)>;

  /// Both must outlive this object.
  ScenarioCourse(const Scenario& scenario, SimHost& host);

  /// Returns when epoch `epoch` begins, counted from the start.
  [[nodiscard]] Microseconds time_of(std::int64_t epoch) const;
  /// Applies the loads of this epoch, and stops and starts VMs. Call in order, from 0.
  void begin_epoch(std::int64_t epoch);
  /// Begins and ends the faults of this epoch. Calls `on_fault` for each lasting one after it took
  /// effect on the host.
  void begin_and_end_faults(std::int64_t epoch, const OnFault& on_fault);
  /// Returns when the next fault strikes; nothing if none is left in the epochs that have begun.
  [[nodiscard]] std::optional<Microseconds> next_strike() const;
  /// Makes that fault strike. A VM that vanishes is removed; killing a daemon is left to the
  /// caller.
  Fault strike();
  /// Removes from the sample the readings that are missing in this epoch because of faults.
  void spoil(std::int64_t epoch, Sample& sample) const;

  /// Returns the id of the VM's last run, once it has started; indexed like Scenario::vms.
  [[nodiscard]] const std::optional<VmId>& id_of(std::size_t vm) const { return ids_[vm]; }
  /// Returns what happened since the last call.
  [[nodiscard]] std::vector<std::string> take_news();

 private:
  /// A fault in the middle of the epoch.
  struct Strike {
    Microseconds at;
    Fault fault;
  };
  void begin_talks(std::size_t vm);
  /// Begins or ends a fault on the host. Returns `is_on` of OnFault.
  bool set_fault(const Fault& fault, std::int64_t epoch);
  /// Takes the cores of a node that faults take in this epoch, the most that one of them does.
  void set_cores(NodeId node, std::int64_t epoch);

  const Scenario& scenario_;
  SimHost& host_;
  Random random_;
  std::vector<std::optional<VmId>> ids_;
  std::vector<Strike> strikes_;  ///< earliest first
  std::vector<std::string> news_;
};

}  // namespace vmnuma::tools
