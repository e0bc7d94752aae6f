// SPDX-License-Identifier: Apache-2.0
/// Facts about the host that determine the meaning of a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "balancer/qemu/described_vm.h"
#include "placement/base/result.h"
#include "placement/model/ids.h"
#include "stats/files/directory.h"

namespace vmnuma::balancer::qemu {

/// Parses /proc/PID/mountinfo (proc(5)): returns mounts of type hugetlbfs; one without pagesize=
/// has pages of `default_size`. Lines that are not understood are ignored.
[[nodiscard]] std::vector<HugePageMount> parse_huge_page_mounts(std::string_view mountinfo,
                                                                Bytes default_size);

/// Reads the facts. `root` is the host's root directory. What cannot be read is left out.
[[nodiscard]] HostFacts read_host_facts(const files::Directory& root);

/// Reads /sys/devices/system/cpu/online. Errors: those of reading the file.
[[nodiscard]] Result<std::vector<CpuId>> read_online_cpus(const files::Directory& root);

/// The bridge of which this interface is a port, from sys/class/net/NAME/master/uevent (Linux 6.1,
/// net/core/net-sysfs.c); empty if none. `name` must be valid in a path.
[[nodiscard]] std::string bridge_of(const files::Directory& root, const std::string& name);

/// The CPUs of threads without pins in this cgroup: cpuset.cpus.effective of the nearest ancestor
/// that has the controller, or `online`. `cgroup` is a path below `mount` as in /proc/PID/cgroup,
/// with a leading '/'.
[[nodiscard]] std::vector<CpuId> cpus_of_cgroup(const files::Directory& mount,
                                                std::string_view cgroup,
                                                const std::vector<CpuId>& online);

}  // namespace vmnuma::balancer::qemu
