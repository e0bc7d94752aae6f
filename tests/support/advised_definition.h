// SPDX-License-Identifier: Apache-2.0
/// Definitions of VMs in XML, as they are asked advice for and as advised.
#pragma once

#include <string>

#include "placement/advice/advice.h"
#include "placement/base/result.h"

namespace vmnuma::tests {

/// A definition that reads as this request, but for its policy and the nodes of its devices.
[[nodiscard]] std::string definition_of(const AdviceRequest& request);

/// The definition as advised for this host. Errors: those of advice and of XML, and corrupt if what
/// comes out is not understood as advised, or the advice for it would change it again.
[[nodiscard]] Result<std::string> advised_definition(const std::string& xml, const VmPolicy& policy,
                                                     const AdviceHost& host);

}  // namespace vmnuma::tests
