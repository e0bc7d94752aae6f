// SPDX-License-Identifier: Apache-2.0
/// Makes definitions of VMs in XML, before and after advice.
#pragma once

#include <string>

#include "placement/advice/advice.h"
#include "placement/base/result.h"

namespace vmnuma::tests {

/// Returns a definition that parses to this request, except for its policy and the nodes of its
/// devices.
[[nodiscard]] std::string definition_of(const AdviceRequest& request);

/// Returns the definition as advised for this host. Errors: those of advice and of XML, and corrupt
/// if the result does not parse to what was advised, or if advice would change it again.
[[nodiscard]] Result<std::string> advised_definition(const std::string& xml, const VmPolicy& policy,
                                                     const AdviceHost& host);

}  // namespace vmnuma::tests
