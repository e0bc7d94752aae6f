// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/cpu_isolation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "placement/model/text.h"
#include "stats/files/read_parsed.h"

namespace vmnuma::stats {
namespace {

using CpuSet = std::vector<CpuId>;  // ascending

constexpr std::string_view kAtBoot = "sys/devices/system/cpu/isolated";
constexpr std::string_view kInPartitions = "sys/fs/cgroup/cpuset.cpus.isolated";

/// Returns the path of a file of the slice, or of the root cgroup for "".
std::string cgroup_file(std::string_view slice, std::string_view name) {
  std::string path = "sys/fs/cgroup/";
  if (!slice.empty()) {
    path.append(slice).append("/");
  }
  return path.append(name);
}

std::string effective_file(std::string_view slice) {
  return cgroup_file(slice, "cpuset.cpus.effective");
}

/// Reads the CPUs in a list file; nothing if there is no such file.
Result<std::optional<CpuSet>> read_cpu_list(const files::Directory& root, std::string_view path) {
  return read_parsed_if_there(root, path, parse_cpu_list).map_error([](Error error) {
    if (error.code == ErrorCode::kInvalidArgument) {
      error.code = ErrorCode::kCorrupt;  // because the text is the kernel's
    }
    return error;
  });
}

void add(CpuSet& all, const CpuSet& more) {
  CpuSet both;
  std::set_union(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(both));
  all = std::move(both);
}

bool contains(const CpuSet& cpus, CpuId cpu) {
  return std::binary_search(cpus.begin(), cpus.end(), cpu);
}

}  // namespace

bool CpuIsolation::keeps(CpuId cpu) const {
  return contains(at_boot, cpu) || contains(in_partitions, cpu) ||
         (of_vms && !contains(*of_vms, cpu));
}

std::string partition_of(const files::Directory& root, std::string_view slice) {
  std::string text = root.read(cgroup_file(slice, "cpuset.cpus.partition")).value_or("");
  text.erase(text.find_last_not_of(" \n") + 1);  // npos + 1 is 0
  return text;
}

Result<CpuIsolation> read_cpu_isolation(const files::Directory& root) {
  CpuIsolation isolation;
  VMNUMA_ASSIGN_OR_RETURN(const auto at_boot, read_cpu_list(root, kAtBoot));
  VMNUMA_ASSIGN_OR_RETURN(const auto in_partitions, read_cpu_list(root, kInPartitions));
  isolation.at_boot = at_boot.value_or(CpuSet{});
  isolation.in_partitions = in_partitions.value_or(CpuSet{});
  for (const std::string_view slice : kVmSlices) {
    VMNUMA_ASSIGN_OR_RETURN(const auto cpus, read_cpu_list(root, effective_file(slice)));
    if (!cpus) {
      continue;
    }
    if (!isolation.of_vms) {
      isolation.of_vms.emplace();
    }
    add(*isolation.of_vms, *cpus);
    if (partition_of(root, slice) == "isolated") {
      add(isolation.in_partitions, *cpus);
    }
  }
  if (!isolation.of_vms) {
    VMNUMA_ASSIGN_OR_RETURN(auto cpus, read_cpu_list(root, effective_file("")));
    isolation.of_vms = std::move(cpus);
  }
  return isolation;
}

std::vector<std::string> cpu_isolation_files() {
  std::vector<std::string> paths = {std::string(kAtBoot), std::string(kInPartitions),
                                    effective_file("")};
  for (const std::string_view slice : kVmSlices) {
    paths.push_back(effective_file(slice));
    paths.push_back(cgroup_file(slice, "cpuset.cpus.partition"));
  }
  return paths;
}

}  // namespace vmnuma::stats
