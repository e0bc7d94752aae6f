// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/candidate_text.h"

#include <fmt/format.h>

#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

std::string candidate_text(const std::string& who, const balancer::CandidateView& candidate) {
  std::string line = fmt::format("{} of {}", candidate.action, who);
  if (!candidate.partner.empty()) {
    line += " with " + candidate.partner;
  }
  line += fmt::format(", node {} to {}: ", node_text(candidate.from), node_text(candidate.to));
  line += candidate.gain_ms < 0 ? fmt::format("costs {} ms per epoch", -candidate.gain_ms)
                                : fmt::format("saves {} ms per epoch", candidate.gain_ms);
  line += candidate.guard.empty() ? ", no rule forbids it" : ", stopped by " + candidate.guard;
  return wrapped(line, /*indent=*/2) + wrapped(candidate.sentence, /*indent=*/4);
}

}  // namespace vmnuma::tools
