// SPDX-License-Identifier: Apache-2.0
/// The root directory of a host that does not exist.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "stats/files/directory.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tests {

class FakeRoot {
 public:
  void write(const std::string& path, const std::string& text, bool executable = false) const {
    const std::filesystem::path file = std::filesystem::path(directory_.path()) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    std::filesystem::permissions(file, executable ? std::filesystem::perms::owner_all
                                                  : std::filesystem::perms::owner_read |
                                                        std::filesystem::perms::owner_write);
  }
  /// A process as /proc shows it; `more` are further lines of its status.
  void run(int pid, const std::string& name, const std::string& more) const {
    const std::string process = "proc/" + std::to_string(pid);
    write(process + "/comm", name + "\n");
    write(process + "/status", "Name:\t" + name + "\n" + more);
  }
  [[nodiscard]] files::Directory root() const { return *files::Directory::open(path()); }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }

 private:
  TempDirectory directory_;
};

/// A root on which every check finds all well.
inline void make_well(const FakeRoot& root) {
  root.write("sys/devices/system/node/online", "0-1\n");
  root.write("sys/devices/system/node/has_cpu", "0-1\n");
  root.write("sys/devices/system/node/has_memory", "0-1\n");
  root.write("sys/devices/system/node/node0/distance", "10 21\n");
  root.write("sys/devices/system/node/node1/distance", "21 10\n");
  root.write("sys/devices/system/cpu/online", "0-1\n");
  for (const std::string number : {"0", "1"}) {
    const std::string node = "sys/devices/system/node/node" + number;
    root.write(node + "/cpulist", number + "\n");
    root.write(node + "/meminfo", "Node " + number + " MemTotal: 1048576 kB\n");
    const std::string cpu = "sys/devices/system/cpu/cpu" + number + "/topology";
    const std::string mask = number == "0" ? "1\n" : "2\n";
    root.write(cpu + "/core_id", number + "\n");
    root.write(cpu + "/core_cpus", mask);
    root.write(cpu + "/physical_package_id", number + "\n");
    root.write(cpu + "/package_cpus", mask);
  }
  root.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
  root.write("proc/self/schedstat", "1 2 3\n");
  root.write("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  root.write("proc/sys/kernel/numa_balancing", "1\n");
  root.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  root.run(700, "vmnumad", "PPid:\t1\nCapEff:\t0000000000880000\n");
  root.write("usr/bin/numad", "ELF...numad of vmnuma...", /*executable=*/true);
  root.write("etc/libvirt/hooks/qemu.d/vmnuma", "#!/bin/sh\n", /*executable=*/true);
  root.write("usr/share/vmnuma/libvirt-hook", "#!/bin/sh\n", /*executable=*/true);
  root.write("sys/module/apparmor/parameters/enabled", "Y\n");
  root.write("etc/apparmor.d/abstractions/libvirt-qemu", "  /dev/kvm rw,\n");
  root.write("etc/apparmor.d/local/abstractions/libvirt-qemu",
             "/sys/devices/system/node/node*/cpumap r,\n");
}

}  // namespace vmnuma::tests
