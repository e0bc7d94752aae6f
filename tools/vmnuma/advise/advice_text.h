// SPDX-License-Identifier: Apache-2.0
/// Advice for people, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "placement/advice/advice.h"
#include "placement/advice/warnings.h"

namespace vmnuma::tools {

/// All that `vmnuma advise` has to say of one VM.
struct AdvisedVm {
  placement::VmId id;
  std::string name;
  placement::Advice advice;
  std::vector<placement::AdviceWarned> warnings;  ///< of its definition as it is
  std::string before;                             ///< its definition
  std::string after;                              ///< the same as advised
};

/// A paragraph for each line of advice, then a line for each warning.
[[nodiscard]] std::string advice_text(const AdvisedVm& vm);

/// One object: "vm", "changes" (whether the definition is not as advised), "topology", "cells",
/// "advice" (about, what, reason, rule), "warnings" (kind, text) and "xml". On one line.
[[nodiscard]] std::string advice_json(const AdvisedVm& vm);

}  // namespace vmnuma::tools
