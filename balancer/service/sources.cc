// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/sources.h"

#include <utility>

namespace vmnuma::balancer {

void Sources::answered(const std::string& source, std::string problem) {
  answers_[source] = std::move(problem);
}

std::vector<std::string> Sources::look(const std::vector<TaskBoard::BusyPlace>& overdue) {
  std::map<std::string, std::string> hangs;
  for (const TaskBoard::BusyPlace& place : overdue) {
    const auto known = hangs_.find(place.name);
    hangs[place.name] = known != hangs_.end() ? known->second : overdue_text(place);
  }
  std::vector<std::string> changed;
  for (const auto& [source, problem] : hangs_) {
    if (!hangs.contains(source)) {
      changed.push_back(source);
    }
  }
  for (const auto& [source, problem] : hangs) {
    if (!hangs_.contains(source)) {
      changed.push_back(source);
    }
  }
  hangs_ = std::move(hangs);
  return changed;
}

std::string Sources::problem_of(const std::string& source) const {
  for (const auto* problems : {&hangs_, &answers_}) {
    if (const auto found = problems->find(source); found != problems->end()) {
      return found->second;
    }
  }
  return {};
}

}  // namespace vmnuma::balancer
