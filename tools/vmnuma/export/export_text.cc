// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/export/export_text.h"

#include <utility>

#include <fmt/format.h>

#include "placement/base/lower_case.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

/// placement/schemas/resource_provider.py allows 200, "_NUMA1023" among them.
constexpr std::size_t kLongestHostName = 190;

Result<std::string> unfit(const std::string& name, std::string_view what) {
  return failure(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' cannot be the name of a {}; --name gives another", name, what));
}

}  // namespace

Result<std::string> export_text(const ExportRun& run, balancer::HostView host, JsonLayout layout) {
  std::string name = run.name.value_or(host.host_name);
  if (run.format == ExportFormat::kNodeResourceTopology) {
    name = run.name ? name : lower_case(name);
    if (!is_object_name(name)) {
      return unfit(name, "Kubernetes object");
    }
    VMNUMA_ASSIGN_OR_RETURN(auto root, files::Directory::open(run.root));
    HostResources resources = read_host_resources(root, host);
    return node_resource_topology({std::move(name), std::move(host), std::move(resources)},
                                  layout) +
           "\n";
  }
  if (name.empty() || name.size() > kLongestHostName) {
    return unfit(name, "resource provider");
  }
  return placement_inventories({std::move(name), std::move(host)}, layout) + "\n";
}

}  // namespace vmnuma::tools
