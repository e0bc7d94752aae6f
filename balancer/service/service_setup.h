// SPDX-License-Identifier: Apache-2.0
/// The components of a service, and the part of them that the controller gets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "balancer/config/config.h"
#include "balancer/controller/controller.h"
#include "balancer/service/host.h"
#include "balancer/service/signals.h"
#include "balancer/service/task_board.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

struct ServiceSetup {
  TaskBoard& board;
  Signals& signals;
  Config config;
  std::function<Result<Config>()> reload;  ///< reads the configuration again, for SIGHUP
  std::unique_ptr<Host> host;
  std::unique_ptr<stats::History> history;  ///< null: go on without
  std::string history_problem;              ///< why, if null
  /// What the service before this one knew, if its history was damaged and a new one was begun.
  std::optional<ControllerSetup> resumed;
  /// Checks whether the history can be opened now. Blocks.
  std::function<Result<void>()> try_history;
  std::int64_t last_action = 0;  ///< the highest number in the history
  std::string search_program;    ///< path of `vmnuma`, which searches for moves; empty: none
};

/// The part of the configuration that decisions depend on.
[[nodiscard]] Settings settings_of(const Config& config);

/// The effective configuration after `read` was read while `running` was in effect: some keys
/// change at the next start only, and the origin of their values with them.
[[nodiscard]] Config without_restart(Config read, const Config& running);

/// Includes what an earlier run left in the history and in the state directory, or what it knew and
/// is resumed. Blocks.
[[nodiscard]] ControllerSetup controller_setup(const ServiceSetup& setup);

}  // namespace vmnuma::balancer
