// SPDX-License-Identifier: Apache-2.0
/// Composes what `vmnuma export` prints.
#pragma once

#include "tools/vmnuma/export/documents.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

/// Returns the document with its newline. If no name is given, the host has the kernel's name, in
/// lower case for Kubernetes. Errors: invalid-argument if that is not a valid name in the cluster;
/// those of opening the host's root directory.
[[nodiscard]] Result<std::string> export_text(const ExportRun& run, balancer::HostView host,
                                              JsonLayout layout);

}  // namespace vmnuma::tools
