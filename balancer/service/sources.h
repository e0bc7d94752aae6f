// SPDX-License-Identifier: Apache-2.0
/// What is wrong with each source that the daemon depends on ("libvirt", "history", "sampler").
///
/// Terms: a source *answers* with a problem or without one; it *hangs* while a task of its worker
/// is overdue (task_board.h). Properties:
///  - that it hangs goes before what it answered last, which counts again once it hangs no more;
///  - a hang is described as it was when it was seen first, so that it is told once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "balancer/service/task_board.h"

namespace vmnuma::balancer {

/// One thread.
class Sources {
 public:
  /// What the source has answered: a problem, in a sentence, or nothing.
  void answered(const std::string& source, std::string problem);
  /// What is overdue now. Returns the sources whose problem is another one than before.
  [[nodiscard]] std::vector<std::string> look(const std::vector<TaskBoard::BusyPlace>& overdue);
  /// Empty if there is none.
  [[nodiscard]] std::string problem_of(const std::string& source) const;

 private:
  std::map<std::string, std::string> answers_;  ///< by source; no entry before the first
  std::map<std::string, std::string> hangs_;    ///< by source
};

}  // namespace vmnuma::balancer
