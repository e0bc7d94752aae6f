// SPDX-License-Identifier: Apache-2.0
/// Runs a scenario, epoch by epoch, in virtual time.
///
/// Problem: a host, a daemon, faults and all observers must be combined in one fast, repeatable
/// run. Approach: an epoch begins with the daemon's tick; then VMs stop and start and loads change.
/// The epoch passes in whiles of a tenth of its length, between which the executor works; faults
/// strike at times that depend only on the seed. At the end of the epoch the truth is recorded and
/// the oracles check it.
///
/// Properties:
///  - the same scenario gives the same result, byte for byte;
///  - nothing depends on real time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/sim/checks/oracles.h"
#include "tools/sim/host/sim_daemon.h"
#include "tools/sim/host/sim_host.h"
#include "tools/sim/host/truth.h"
#include "tools/sim/policies/policy.h"
#include "tools/sim/scenario/scenario.h"
#include "tools/sim/scenario_course.h"
#include "tools/sim/simulation_result.h"

namespace vmnuma::tools {

/// The members are the parts of a run, and what has been counted so far.
class Simulation {
 public:
  /// With a policy it runs without the balancer: `policy` decides, and the balancer's rules are not
  /// checked.
  explicit Simulation(Scenario scenario, std::unique_ptr<Policy> policy = nullptr);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Returns the number of the next epoch, from 0.
  [[nodiscard]] std::int64_t epoch() const { return epoch_; }
  [[nodiscard]] bool finished() const { return epoch_ >= scenario_.epochs; }
  void run_epoch();

  /// Returns the news of the last epoch: what the daemon reported, and which faults struck.
  [[nodiscard]] const std::vector<std::string>& news() const { return news_; }
  /// Returns the last epoch in which the daemon gave an order, stored or forgot a home, or reported
  /// something.
  [[nodiscard]] std::int64_t last_activity() const { return last_activity_; }
  /// Returns the figures of the last epoch.
  [[nodiscard]] const EpochFigures& figures() const { return figures_; }
  [[nodiscard]] const EpochTruth& truth() const { return truth_; }
  /// Returns the scenario's entry for a VM that has started.
  [[nodiscard]] const ScenarioVm& vm(const VmId& id) const;
  /// Sends the daemon a command of the control socket, now. Error: unavailable while it does not
  /// run, and those of the daemon.
  [[nodiscard]] Result<balancer::Answer> ask(const balancer::Command& command);
  /// Records what the daemon sees and plans, from the next epoch on.
  void record(bool anonymize) { daemon_.record(anonymize); }
  /// Returns the lines of the recording since the last call. Call every few epochs.
  [[nodiscard]] std::vector<std::string> take_recording() { return daemon_.take_recording(); }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

  /// Returns the result; call after the last epoch.
  [[nodiscard]] SimulationResult result();

 private:
  struct Life {
    std::optional<VmId> id;  ///< once it has started
    std::int64_t could_use_us = 0;
    std::int64_t ran_us = 0;
    std::int64_t waited_us = 0;
    std::int64_t served_us = 0;
    std::int64_t stalled_us = 0;
    std::int64_t entitled_us = 0;
    Percentage locality;
    std::vector<NodeId> homes;
    std::int64_t moves = 0;
    NodeIndex main_node = kNoNode;  ///< the node on which most of its vCPUs were
  };
  struct Given {
    std::int64_t epoch = 0;
    migration::Order order;
    bool counted = false;  ///< its pins have been made; this is reported again after a restart
  };
  class Shares {
   public:
    void add(std::optional<Percentage> share);
    [[nodiscard]] Course course() const;

   private:
    Percentage sum_;
    std::int64_t count_ = 0;
    Percentage first_;
    Percentage last_;
  };

  void tick();
  void begin_epoch();
  void begin_and_end_faults();
  void strike();
  void process_news();
  void pass(Microseconds until);
  void listen();
  void count_move(const Given& given);
  void record_homes();
  void take_down();
  [[nodiscard]] Life* life_of(const VmId& vm);

  Scenario scenario_;
  Microseconds clock_;
  SimHost host_;
  ScenarioCourse course_;
  SimDaemon daemon_;
  std::unique_ptr<Policy> policy_;  ///< null: the balancer
  PolicyHost policy_host_;
  Oracles oracles_;
  std::int64_t epoch_ = 0;
  Microseconds now_;
  std::optional<std::int64_t> daemon_restart_epoch_;   ///< epoch
  std::map<std::int64_t, Given> orders_;               ///< not ended yet
  std::map<std::int64_t, PredictedAction> predicted_;  ///< by order, until they are measured
  std::vector<Life> lives_;                            ///< as scenario_.vms
  std::vector<std::string> news_;
  std::int64_t last_activity_ = -1;
  EpochTruth truth_;
  EpochFigures figures_;
  Shares imbalance_;
  Shares locality_;
  CpuTime wanted_;  ///< of all VMs in all epochs, like the next two
  CpuTime owed_;
  CpuTime stalled_;
  SimulationResult result_;
};

}  // namespace vmnuma::tools
