// SPDX-License-Identifier: Apache-2.0
/// What `vmnuma export` prints.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/export/documents.h"

namespace vmnuma::tools {

/// The document with its newline. Without a name of its own the host has the kernel's, in small
/// letters for Kubernetes. Errors: invalid-argument if that cannot be a name there; those of
/// opening the host's root directory.
[[nodiscard]] Result<std::string> export_text(const ExportRun& run, balancer::HostView host,
                                              JsonLayout layout);

}  // namespace vmnuma::tools
