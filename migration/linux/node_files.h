// SPDX-License-Identifier: Apache-2.0
/// A node's free memory, from /sys/devices/system/node/nodeN (Linux 6.1, drivers/base/node.c).
#pragma once

#include <string_view>

#include "migration/page_mover.h"
#include "placement/base/result.h"
#include "stats/files/directory.h"

namespace vmnuma::migration {

/// Parses nodeN/meminfo (stats/formats/node_formats.h). Available is MemFree plus what can be
/// dropped without writing: Inactive(file) less Dirty and Writeback. Neither includes pages of huge
/// page pools. Error: corrupt, also if a line is missing.
[[nodiscard]] Result<NodeMemory> parse_node_meminfo(NodeId node, std::string_view text);

/// Reads meminfo and the huge page pools. Error: not-found if there is no such node; others as for
/// Directory.
[[nodiscard]] Result<NodeMemory> read_node_memory(const files::Directory& root, NodeId node);

}  // namespace vmnuma::migration
