// SPDX-License-Identifier: Apache-2.0
/// The executor's journal, kept in the history database.
///
/// Terms: an order's *text* is what recovery needs; the other columns are for queries by people.
/// Properties: open entries are found again after a crash; an order whose text can no longer be
/// read is closed as dropped and logged, never guessed at. Without a database every call fails with
/// unavailable, and the executor then does nothing: no VM is touched without a record.
#pragma once

#include "balancer/service/host_time.h"
#include "migration/journal.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

class HistoryJournal final : public migration::Journal {
 public:
  /// `history` may be null. `time` is the host's.
  explicit HistoryJournal(stats::History* history, HostTime time = {})
      : history_(history), time_(time) {}

  [[nodiscard]] Result<void> open(const migration::Order& order) override;
  [[nodiscard]] Result<void> begin_step(std::int64_t action, std::int32_t number,
                                        std::string_view text) override;
  [[nodiscard]] Result<void> end_step(std::int64_t action, std::int32_t number,
                                      std::string_view outcome) override;
  [[nodiscard]] Result<void> close(std::int64_t action, migration::ActionState state,
                                   std::string_view detail) override;
  [[nodiscard]] Result<std::vector<migration::OpenAction>> open_actions() override;

 private:
  [[nodiscard]] Result<stats::History*> available() const;

  stats::History* history_;
  HostTime time_;
};

}  // namespace vmnuma::balancer
