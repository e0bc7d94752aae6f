// SPDX-License-Identifier: Apache-2.0
/// The executor's journal in memory. It outlives an executor, as the real one outlives the program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "migration/journal.h"

namespace vmnuma::tests {

/// Not thread-safe.
class FakeJournal : public migration::Journal {
 public:
  [[nodiscard]] Result<void> open(const migration::Order& order) override;
  [[nodiscard]] Result<void> begin_step(std::int64_t action, std::int32_t number,
                                        std::string_view text) override;
  [[nodiscard]] Result<void> end_step(std::int64_t action, std::int32_t number,
                                      std::string_view outcome) override;
  [[nodiscard]] Result<void> close(std::int64_t action, migration::ActionState state,
                                   std::string_view detail) override;
  [[nodiscard]] Result<std::vector<migration::OpenAction>> open_actions() override;

  struct Closed {
    migration::OpenAction action;
    migration::ActionState state{};
    std::string detail;
  };
  /// Returns the closed actions in the order in which they were closed.
  [[nodiscard]] const std::vector<Closed>& closed() const { return closed_; }

 private:
  std::map<std::int64_t, migration::OpenAction> open_;
  std::vector<Closed> closed_;
};

}  // namespace vmnuma::tests
