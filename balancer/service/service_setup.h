// SPDX-License-Identifier: Apache-2.0
/// The components of a service, and what the controller gets of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "balancer/config/config.h"
#include "balancer/controller/controller.h"
#include "balancer/service/event_log.h"
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
  std::unique_ptr<stats::History> history;  ///< null: run without one
  std::string history_problem;              ///< why, if null
  /// What the previous service knew, if its history was damaged and a new one was begun.
  std::optional<ControllerSetup> resumed;
  /// Checks whether the history can be opened now. Blocks.
  std::function<Result<void>()> try_history;
  std::int64_t last_action = 0;  ///< the highest number in the history
  std::string search_program;    ///< path of `vmnuma`, which searches for moves; empty: none
};

/// Extracts the part of the configuration that decisions depend on.
[[nodiscard]] Settings settings_of(const Config& config);

/// Returns the effective configuration after `read` was read while `running` was in effect: some
/// keys, and the origin of their values, change only at the next start.
[[nodiscard]] Config without_restart(Config read, const Config& running);

/// Returns the controller's setup, including what an earlier run left in the history and in the
/// state directory, or what the previous service knew. Blocks.
[[nodiscard]] ControllerSetup controller_setup(const ServiceSetup& setup, EventLog& log);

}  // namespace vmnuma::balancer
