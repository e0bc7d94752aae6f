// SPDX-License-Identifier: Apache-2.0
/// Checks a simulation for events that must never happen.
///
/// Problem: a scenario's figures can look good although something went wrong on the way. Approach:
/// after every epoch check rules that hold in every scenario against what the host, the executor
/// and the controller really did, with bookkeeping independent of theirs. Rules:
///  1. Pages are neither lost nor created.
///  2. The vCPUs of a client are pinned alike, to its home if it has one, unless an order is in
///     progress.
///  3. No client is moved to a node that its VM may not use or that cannot be a home, nor sooner
///     than Numa.Residency and Numa.NoReturn allow, nor do more than Numa.MigrationsPerEpoch moves
///     begin in an epoch. Nor may the threads of a client run on such a node; but it may stay where
///     it was found.
///  4. Never is more moved than the rates allow, or so much that a node falls below its reserve, or
///     a page of a VM whose memory must stay.
///  5. Every order ends once, and nothing is left open in the journal.
///  6. Under a constant load, moves cease (except turns of long-term fairness) if the scenario is
///     long enough.
///  7. No plan breaks a rule of balancer/core/validator.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/sim/host/sim_daemon.h"
#include "tools/sim/host/sim_host.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

class Oracles {
 public:
  explicit Oracles(const Scenario& scenario);

  /// Call these in the order of the events.
  void daemon_stopped(const std::vector<migration::OpenAction>& left_open);
  void order_given(std::int64_t epoch, const migration::Order& order, const SimHost& host);
  void action_told(const migration::ActionEvent& event);
  void pages_moved(const PageMove& move, const SimHost& host);
  /// Returns how much of the moved memory took its target node below the reserve. Valid for any
  /// policy.
  [[nodiscard]] Bytes below_reserve(const PageMove& move, const SimHost& host) const;
  void epoch_ended(std::int64_t epoch, const SimHost& host, const SimDaemon& daemon);
  void simulation_ended(SimDaemon& daemon);

  /// Returns the violations, as "epoch 12: ...", in the order in which they were found.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  /// A leaky bucket: if it overflows, the rate was exceeded.
  struct Meter {
    Microseconds at;
    Bytes level;
  };
  struct Stay {
    std::int64_t since = 0;  ///< epoch
    NodeId came_from;
  };
  struct UnderWay {
    migration::Order order;
    std::map<ClientId, std::optional<Stay>> before;
  };

  void violation(std::string text);
  void check_home_change(std::int64_t epoch, const migration::Order& order,
                         const migration::VmChange& change, const migration::HomeChange& home,
                         const SimHost& host);
  void check_new_pins(const migration::Order& order, const migration::VmChange& change,
                      const SimHost& host);
  void check_pins(const SimHost& host, const balancer::Controller& controller);
  void check_rate(Meter& meter, Bytes rate, const PageMove& move, const std::string& whose);
  [[nodiscard]] Bytes reserve_of(NodeId node, const SimHost& host) const;
  [[nodiscard]] bool is_under_way(const VmId& vm) const;
  [[nodiscard]] std::optional<std::int64_t> quiet_from() const;

  const Scenario& scenario_;
  std::int64_t epoch_ = 0;
  std::int64_t begun_in_epoch_ = 0;
  std::int64_t last_balancing_move_ = -1;
  std::set<std::int64_t> ended_;
  std::map<std::int64_t, UnderWay> under_way_;
  std::map<ClientId, Stay> stays_;
  Meter host_meter_;
  std::map<VmId, Meter> vm_meters_;
  std::vector<std::string> violations_;
};

}  // namespace vmnuma::tools
