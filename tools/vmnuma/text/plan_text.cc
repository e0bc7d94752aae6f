// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

std::string relocation_text(const balancer::RelocationView& relocation) {
  const std::string where =
      relocation.from == relocation.to
          ? node_text(relocation.to)
          : fmt::format("{} to {}", node_text(relocation.from), node_text(relocation.to));
  const std::string second = relocation.spills_to.value >= 0
                                 ? fmt::format(" and CPUs of {}", node_text(relocation.spills_to))
                                 : "";
  return wrapped(fmt::format("{} client {}: node {}{}, {} of memory", relocation.vm,
                             relocation.client, where, second, bytes_text(relocation.memory_bytes)),
                 /*indent=*/5);
}

std::string change_text(const balancer::Figure& before, const balancer::Figure& after,
                        std::string_view unit) {
  return before || after
             ? fmt::format("{} to {}", figure_text(before, unit), figure_text(after, unit))
             : "not predicted";
}

std::string action_text(std::size_t number, const balancer::ActionView& action) {
  std::string out = fmt::format("{:>3}. {}\n", number, printable(action.reason));
  for (const auto& relocation : action.relocations) {
    out += relocation_text(relocation);
  }
  const auto& predicted = action.predicted;
  out += fmt::format(
      "     lost time per epoch {}, imbalance {},\n"
      "     locality {}, costs {} once\n",
      change_text(predicted.lost_before_ms, predicted.lost_after_ms, "ms"),
      change_text(predicted.imbalance_before_pct, predicted.imbalance_after_pct, "%"),
      change_text(predicted.locality_before_pct, predicted.locality_after_pct, "%"),
      figure_text(predicted.cost_ms, "ms"));
  return out + wrapped(action.sentence, /*indent=*/5);
}

}  // namespace

std::string candidate_text(const std::string& client, const balancer::CandidateView& candidate) {
  std::string line = fmt::format("{} of {}", candidate.action, client);
  if (!candidate.partner.empty()) {
    line += " with " + candidate.partner;
  }
  line += fmt::format(", node {} to {}: ", node_text(candidate.from), node_text(candidate.to));
  line += candidate.gain_ms < 0 ? fmt::format("costs {} ms per epoch", -candidate.gain_ms)
                                : fmt::format("saves {} ms per epoch", candidate.gain_ms);
  line += candidate.guard.empty() ? ", no rule forbids it" : ", stopped by " + candidate.guard;
  return wrapped(line, /*indent=*/2) + wrapped(candidate.sentence, /*indent=*/4);
}

std::string text_of(const balancer::PlanView& view) {
  std::string out =
      fmt::format("Plan of epoch {}: lost time {} per epoch, imbalance {}\n", view.epoch,
                  figure_text(view.lost_ms, "ms"), figure_text(view.imbalance_pct, "%"));
  if (view.mode != balancer::Mode::kActive) {
    out += fmt::format("The balancer is in mode {}.\n", name_of(view.mode));
  }
  out += "\nActions\n";
  for (std::size_t i = 0; i < view.actions.size(); ++i) {
    out += action_text(i + 1, view.actions[i]);
  }
  if (view.actions.empty()) {
    out += "  none\n";
  }
  out += "\nNot taken, best first\n";
  for (const auto& rejection : view.rejections) {
    out += candidate_text(fmt::format("{}/{}", rejection.vm, rejection.candidate.client),
                          rejection.candidate);
  }
  if (view.rejections.empty()) {
    out += "  none\n";
  }
  return out;
}

}  // namespace vmnuma::tools
