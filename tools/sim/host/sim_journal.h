// SPDX-License-Identifier: Apache-2.0
/// The journal of a simulated daemon, which outlives the daemon.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "migration/journal.h"

namespace vmnuma::tools {

class SimJournal final : public migration::Journal {
 public:
  explicit SimJournal(Microseconds& clock) : clock_(clock) {}

  [[nodiscard]] Result<void> open(const migration::Order& order) override;
  [[nodiscard]] Result<void> begin_step(std::int64_t action, std::int32_t number,
                                        std::string_view text) override;
  [[nodiscard]] Result<void> end_step(std::int64_t action, std::int32_t number,
                                      std::string_view outcome) override;
  [[nodiscard]] Result<void> close(std::int64_t action, migration::ActionState state,
                                   std::string_view detail) override;
  [[nodiscard]] Result<std::vector<migration::OpenAction>> open_actions() override;

  /// Returns the highest number ever opened; 0 if none was.
  [[nodiscard]] std::int64_t last_action() const { return last_action_; }
  [[nodiscard]] std::size_t open_count() const { return open_.size(); }

 private:
  [[nodiscard]] Result<migration::OpenAction*> find(std::int64_t action);

  Microseconds& clock_;
  std::map<std::int64_t, migration::OpenAction> open_;
  std::int64_t last_action_ = 0;
};

}  // namespace vmnuma::tools
