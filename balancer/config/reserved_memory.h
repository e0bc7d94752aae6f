// SPDX-License-Identifier: Apache-2.0
/// The key `reserved_memory`, in the form of the kubelet's --reserved-memory
/// (kubernetes.io/docs/tasks/administer-cluster/memory-manager):
///
///     0:memory=2Gi,hugepages-2Mi=64Mi;1:memory=1Gi
///
/// Amounts and page sizes are numbers with Ki, Mi, Gi, Ti, or no suffix for bytes. Property: a
/// value that is set and shown reads back the same.
#pragma once

#include <string>
#include <string_view>

#include "placement/base/result.h"
#include "placement/model/reserved_memory.h"

namespace vmnuma::balancer {

/// Sets `target` from the key's text. Error: invalid-argument, naming what is allowed; `target` is
/// then unchanged.
[[nodiscard]] Result<void> set_reserved_memory(ReservedMemory& target, std::string_view text);
[[nodiscard]] std::string reserved_memory_text(const ReservedMemory& reserved);

}  // namespace vmnuma::balancer
