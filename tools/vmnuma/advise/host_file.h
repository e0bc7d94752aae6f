// SPDX-License-Identifier: Apache-2.0
/// The file of a host that `vmnuma export --format host` writes and `vmnuma advise --host` reads.
///
/// One JSON object:
///
///     {"vmnuma_host": 1, "name": "kvm1", "prefer_ht": false,
///      "distances": [[10, 21], [21, 10]],
///      "nodes": [{"node": 0, "socket": 0, "memory_bytes": 68719476736, "free_bytes": 1234567890,
///                 "cpus": [{"cpu": 0, "core": 0, "cache": 0}],
///                 "huge_pages": [{"page_bytes": 2097152, "pages": 512, "free": 512}]}]}
///
/// Distances are SLIT's, rows and columns in the order of the nodes. CPUs are those that VMs may
/// use; CPUs with the same number as `core` share a core, those with the same `cache` a last-level
/// cache. `free_bytes` and `free` are left out if unknown.
///
/// Properties:
///  - reading a written file gives the same host;
///  - any text gives either a host with a complete matrix and ascending nodes, or an error that
///    names the problem.
#pragma once

#include <string>
#include <string_view>

#include "placement/advice/advice.h"
#include "placement/base/result.h"

namespace vmnuma::tools {

/// Returns the text of the file, with a line end. `indent` is as in text::json_text().
[[nodiscard]] std::string host_file_text(const AdviceHost& host, const std::string& name,
                                         int indent);

/// Parses the text of the file; `file` is its name in messages. Error: corrupt.
[[nodiscard]] Result<AdviceHost> parse_host_file(std::string_view text, std::string_view file);
/// Reads the file. Errors: those of parse_host_file(), and of reading.
[[nodiscard]] Result<AdviceHost> read_host_file(const std::string& path);

/// Reads this host from its files; `root` is its root directory. Free memory and pages are left out
/// if either cannot be read. Errors: as stats::read_topology().
[[nodiscard]] Result<AdviceHost> read_advice_host(const std::string& root);

}  // namespace vmnuma::tools
