// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/host_facts.h"

#include <optional>
#include <utility>

#include "balancer/qemu/description_parts.h"
#include "balancer/qemu/option_group.h"
#include "placement/model/device_names.h"
#include "placement/model/text.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/fields.h"
#include "stats/formats/memory_formats.h"

namespace vmnuma::balancer::qemu {

std::vector<HugePageMount> parse_huge_page_mounts(std::string_view mountinfo, Bytes default_size) {
  std::vector<HugePageMount> mounts;
  while (const auto line = stats::take_line(mountinfo)) {
    // "36 35 0:32 / /dev/hugepages rw,relatime shared:15 - hugetlbfs hugetlbfs rw,pagesize=2M"
    constexpr std::string_view kSeparator = " - ";
    const std::size_t separator = line->find(kSeparator);
    if (separator == std::string_view::npos) {
      continue;
    }
    std::string_view before = line->substr(0, separator);
    std::string_view after = line->substr(separator + kSeparator.size());
    std::optional<std::string_view> path;
    for (int word = 0; word < 5; ++word) {
      path = stats::take_word(before);
    }
    if (stats::take_word(after) != "hugetlbfs" || !path || !stats::take_word(after)) {
      continue;
    }
    const OptionGroup options{"", parse_settings(stats::take_word(after).value_or(""), "")};
    const auto size = options.value("pagesize");
    mounts.push_back({std::string(*path),
                      size ? parse_size(*size, Bytes{1}).value_or(default_size) : default_size});
  }
  return mounts;
}

HostFacts read_host_facts(const files::Directory& root) {
  HostFacts facts;
  facts.default_huge_page_size =
      files::read_parsed(root, "proc/meminfo", stats::parse_default_huge_page_size)
          .value_or(Bytes{});
  // A service may have its own mounts; the first process has the host's.
  auto mounts = root.read("proc/1/mountinfo");
  if (!mounts) {
    mounts = root.read("proc/self/mountinfo");
  }
  if (mounts) {
    facts.huge_page_mounts = parse_huge_page_mounts(*mounts, facts.default_huge_page_size);
  }
  return facts;
}

Result<std::vector<CpuId>> read_online_cpus(const files::Directory& root) {
  return files::read_parsed(root, "sys/devices/system/cpu/online", parse_cpu_list);
}

std::string bridge_of(const files::Directory& root, const std::string& name) {
  const auto text = root.read("sys/class/net/" + name + "/master/uevent");
  if (!text) {
    return {};
  }
  std::string_view rest = *text;
  while (const auto line = stats::take_line(rest)) {
    if (const auto master = stats::after(*line, "INTERFACE=");
        master && is_interface_name(*master)) {
      return std::string(*master);
    }
  }
  return {};
}

std::vector<CpuId> cpus_of_cgroup(const files::Directory& mount, std::string_view cgroup,
                                  const std::vector<CpuId>& online) {
  while (cgroup.starts_with('/') && cgroup.size() > 1) {
    const auto cpus = files::read_parsed(
        mount, std::string(cgroup.substr(1)) + "/cpuset.cpus.effective", parse_cpu_list);
    if (cpus && !cpus->empty()) {
      return *cpus;
    }
    cgroup = cgroup.substr(0, cgroup.rfind('/'));
  }
  return online;
}

}  // namespace vmnuma::balancer::qemu
