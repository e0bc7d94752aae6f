// SPDX-License-Identifier: Apache-2.0
/// What a service is made of, and what of it the controller is told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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
  /// Whether it could be opened by now. Blocks.
  std::function<Result<void>()> try_history;
  std::int64_t last_action = 0;  ///< the highest number in the history
  std::string search_program;    ///< path of `vmnuma`, which searches for moves; empty: none
};

/// What of the configuration decisions go by.
[[nodiscard]] Settings settings_of(const Config& config);

/// The configuration that counts once `read` was read while `running` counted: some keys change
/// with the next start only.
[[nodiscard]] Config without_restart(Config read, const Config& running);

/// With what an earlier run left in the history and in the state directory. Blocks.
[[nodiscard]] ControllerSetup controller_setup(const ServiceSetup& setup);

}  // namespace vmnuma::balancer
