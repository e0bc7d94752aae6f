// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/host_needs.h"

#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace vmnuma::stats {

std::optional<std::string> why_no_cgroup(const files::Directory& root) {
  const auto text = root.read("sys/fs/cgroup/cgroup.controllers");
  if (!text) {
    return "there is no cgroup v2 at /sys/fs/cgroup, where VMs are measured";
  }
  std::istringstream words(*text);
  const std::set<std::string> controllers(std::istream_iterator<std::string>(words), {});
  std::string missing;
  for (const char* controller : {"cpuset", "cpu", "memory"}) {
    if (!controllers.contains(controller)) {
      missing += (missing.empty() ? "" : ", ") + std::string(controller);
    }
  }
  if (!missing.empty()) {
    return "cgroup v2 lacks the controllers " + missing;
  }
  return std::nullopt;
}

std::optional<std::string> why_no_schedstat(const files::Directory& root) {
  if (const auto text = root.read("proc/self/schedstat"); !text) {
    return "the kernel does not report how long threads ran and waited: " + text.error().message;
  }
  return std::nullopt;
}

std::vector<HostLack> host_lacks(const files::Directory& root) {
  std::vector<HostLack> lacks;
  if (std::optional<std::string> why = why_no_cgroup(root)) {
    lacks.push_back({"cgroup", std::move(*why)});
  }
  if (std::optional<std::string> why = why_no_schedstat(root)) {
    lacks.push_back({"schedstat", std::move(*why)});
  }
  return lacks;
}

}  // namespace vmnuma::stats
