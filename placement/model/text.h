// SPDX-License-Identifier: Apache-2.0
/// The text forms of ids and sets, as libvirt and the kernel write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma {

/// "c7a5fdbd-edaf-9455-926a-d65c16db1809", libvirt's form.
[[nodiscard]] std::string to_text(const VmId& id);
/// Reads that form (upper case accepted). Error: invalid-argument, quoting the text.
[[nodiscard]] Result<VmId> parse_vm_id(std::string_view text);

/// The kernel's list format, "0-3,8": ascending, merged ranges. Empty set = empty string.
[[nodiscard]] std::string to_list(const std::vector<CpuId>& cpus);
[[nodiscard]] std::string to_list(const std::vector<NodeId>& nodes);
[[nodiscard]] std::string to_list(const std::vector<std::int32_t>& numbers);
/// "node 1", "nodes 0-1,4".
[[nodiscard]] std::string node_or_nodes(const std::vector<NodeId>& nodes);
/// Parses the kernel's list format; trailing blanks are accepted, anything else is not. At most
/// 65536 entries. Errors: invalid-argument, quoting the text.
[[nodiscard]] Result<std::vector<CpuId>> parse_cpu_list(std::string_view text);
[[nodiscard]] Result<std::vector<NodeId>> parse_node_list(std::string_view text);

}  // namespace vmnuma
