// SPDX-License-Identifier: Apache-2.0
/// What `vmnuma export` prints.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/export/documents.h"

namespace vmnuma::tools {

/// The document with its newline. Without a given name the host has the kernel's, in lower case for
/// Kubernetes. Errors: invalid-argument if that is not a valid name there; those of opening the
/// host's root directory.
[[nodiscard]] Result<std::string> export_text(const ExportRun& run, balancer::HostView host,
                                              JsonLayout layout);

}  // namespace vmnuma::tools
