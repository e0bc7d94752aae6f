// SPDX-License-Identifier: Apache-2.0
/// Formats advice for humans and as JSON.
#pragma once

#include <string>
#include <vector>

#include "placement/advice/advice.h"
#include "placement/advice/warnings.h"

namespace vmnuma::tools {

/// Everything that `vmnuma advise` has to say about one VM.
struct AdvisedVm {
  VmId id;
  std::string name;
  Advice advice;
  std::vector<AdviceWarned> warnings;  ///< about its current definition, if it has one
  std::string before;                  ///< its definition
  std::string after;                   ///< the definition as advised
  bool is_new =
      false;  ///< `before` was made up, and the warnings are about the definition as advised
};

/// Returns a paragraph per line of advice, then a line per warning.
[[nodiscard]] std::string advice_text(const AdvisedVm& vm);

/// Returns one object: "vm", "changes" (whether the definition differs from the advice),
/// "topology", "cells", "advice" (about, what, reason, rule), "warnings" (kind, text) and "xml". On
/// one line.
[[nodiscard]] std::string advice_json(const AdvisedVm& vm);

}  // namespace vmnuma::tools
