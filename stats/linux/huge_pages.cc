// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/huge_pages.h"

#include <algorithm>
#include <string>
#include <utility>

#include "stats/formats/node_formats.h"

namespace vmnuma::stats {

Result<std::vector<HugePagePoolFiles>> huge_page_pools(const files::Directory& node) {
  std::vector<HugePagePoolFiles> pools;
  const auto directory = node.directory("hugepages");
  if (!directory) {
    if (directory.error().code == ErrorCode::kNotFound) {
      return pools;
    }
    return tl::unexpected(directory.error());
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto names, directory->names());
  for (const std::string& name : names) {
    if (const auto page_size = page_size_of_pool_name(name)) {
      VMNUMA_ASSIGN_OR_RETURN(auto pool, directory->directory(name));
      pools.push_back({*page_size, std::move(pool)});
    }
  }
  std::ranges::sort(pools, {}, &HugePagePoolFiles::page_size);
  return pools;
}

}  // namespace vmnuma::stats
