// SPDX-License-Identifier: Apache-2.0
/// Problems of each source that the daemon depends on ("libvirt", "history", "sampler").
///
/// Terms: a source *answers* with a problem or without one; it *hangs* while a task of its worker
/// is overdue (task_board.h). Properties:
///  - a hang takes precedence over the last answer, which applies again once the source no longer
///    hangs;
///  - a hang keeps the description from when it was first seen, so that it is reported once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "balancer/service/task_board.h"

namespace vmnuma::balancer {

/// One thread.
class Sources {
 public:
  /// Takes the source's answer: a problem, as a sentence, or nothing.
  void answered(const std::string& source, std::string problem);
  /// Takes the overdue tasks. Returns the sources whose problem has changed.
  [[nodiscard]] std::vector<std::string> look(const std::vector<TaskBoard::BusyPlace>& overdue);
  /// The source's problem; empty if there is none.
  [[nodiscard]] std::string problem_of(const std::string& source) const;

 private:
  std::map<std::string, std::string> answers_;  ///< by source; no entry before its first answer
  std::map<std::string, std::string> hangs_;    ///< by source
};

}  // namespace vmnuma::balancer
