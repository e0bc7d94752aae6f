// SPDX-License-Identifier: Apache-2.0
/// A domain's memory: its amount, page sizes and binding.
///
/// Problem: whether memory can be moved at all depends on several elements, each with defaults.
/// Approach: read them together: <memory>, <currentMemory>, <numatune> and <memoryBacking>.
#pragma once

#include <pugixml.hpp>

#include "balancer/host/xml_fields.h"
#include "placement/model/amounts.h"
#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// Fills in the amounts, numatune and memory backing. `max_memory` is <memory>: the maximum that
/// the VM can use before a memory device is plugged. `memory_shared` is only ever set, never
/// cleared, because a cell may already have set it. The cells must exist; each gets its page size
/// and its binding.
void read_memory(pugi::xml_node domain, Bytes default_huge_page_size, VmDescription& vm,
                 XmlFields& fields);

}  // namespace vmnuma::balancer
