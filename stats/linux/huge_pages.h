// SPDX-License-Identifier: Apache-2.0
/// Opens the pools of hugetlb pages of a node: nodeN/hugepages in /sys/devices/system/node (Linux
/// 6.1, Documentation/admin-guide/mm/hugetlbpage.rst).
#pragma once

#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

struct HugePagePoolFiles {
  Bytes page_size;
  files::Directory directory;  ///< contains nr_hugepages and free_hugepages (parse_page_count())
};

/// Returns the pools of the node that has this directory, by page size; none on a kernel without
/// hugetlbfs. Errors: those of Directory.
[[nodiscard]] Result<std::vector<HugePagePoolFiles>> huge_page_pools(const files::Directory& node);

}  // namespace vmnuma::stats
