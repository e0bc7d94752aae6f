// SPDX-License-Identifier: Apache-2.0
/// A fake host: the files of /proc, /sys and /run that describe it, in a temporary directory.
///
/// Tests describe the host by values (nodes, CPUs, VMs) and get a root directory for the readers.
/// Files are rewritten in place, so that descriptors kept open see the change as with a real
/// kernel. A directory of files cannot imitate a thread that ends while its files are open: for
/// that, fake_qemu.h has real processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/domain.h"
#include "placement/model/memory_state.h"
#include "placement/model/topology.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tests {

struct FakeCpu {
  std::int32_t id = 0;
  std::int32_t core = 0;  ///< unique on the host
  std::int32_t package = 0;
  std::int32_t last_level_cache = 0;  ///< unique on the host
};

struct FakeNode {
  std::int32_t id = 0;
  std::vector<FakeCpu> cpus;  ///< online ones
  Bytes memory;
  std::vector<HugePagePool> huge_pages;
};

/// `count` nodes with ids 0, 1, ...; each is one package and one last-level cache. As in the
/// numbering of most firmware, the first threads of all cores come first: 2 nodes, 2 cores, 2
/// threads give node 0 the CPUs 0,1,4,5.
[[nodiscard]] std::vector<FakeNode> regular_nodes(std::int32_t count, std::int32_t cores,
                                                  std::int32_t threads, Bytes memory);

struct FakeVcpu {
  std::int32_t number = 0;
  std::int64_t tid = 0;
};

struct FakeVm {
  std::string name;
  std::uint8_t uuid = 0;  ///< the last byte of its UUID; the others are zero
  std::int32_t domain_id = 1;
  std::int64_t pid = 0;
  std::uint64_t start_time_ticks = 100;
  std::vector<FakeVcpu> vcpus;
  bool in_cgroup = true;  ///< false: a host without systemd and cgroup v2

  [[nodiscard]] VmId id() const;
  /// Returns the VM as libvirt would describe it.
  [[nodiscard]] VmDescription description() const;
  /// Return its directories, relative to the root.
  [[nodiscard]] std::string process_directory() const;
  [[nodiscard]] std::string thread_directory(std::int64_t tid) const;
  [[nodiscard]] std::string scope() const;
  [[nodiscard]] std::string vcpu_group(std::int32_t vcpu) const;
};

class FakeHost {
 public:
  [[nodiscard]] const std::string& path() const { return directory_.path(); }

  /// Writes /sys/devices/system/{node,cpu} and a /proc/stat of an idle host. Distances are 10
  /// and 20.
  void set_nodes(const std::vector<FakeNode>& nodes);
  /// Sets the distances row by row, in the order of the nodes' ids.
  void set_distances(const std::vector<FakeNode>& nodes,
                     const std::vector<std::vector<std::int32_t>>& rows);
  void set_node_memory(std::int32_t node, Bytes total, Bytes free);
  /// Writes /proc/stat: every CPU was idle for that long.
  void set_cpu_times(const std::vector<FakeNode>& nodes, std::int64_t idle_us);

  /// Makes the process, threads, cgroup and pid file of a VM, with all counters zero, no limits and
  /// 64 MiB on node 0.
  void start(const FakeVm& vm);
  /// Removes what start() made.
  void stop(const FakeVm& vm);
  void plug(const FakeVm& vm, FakeVcpu vcpu);
  void unplug(const FakeVm& vm, FakeVcpu vcpu);
  void set_vcpu_times(const FakeVm& vm, FakeVcpu vcpu, std::int64_t run_ns, std::int64_t wait_ns);
  void set_last_cpu(const FakeVm& vm, FakeVcpu vcpu, std::int32_t cpu);
  void set_quota(const FakeVm& vm, std::int32_t vcpu, std::string_view cpu_max);
  void set_throttled(const FakeVm& vm, std::int32_t vcpu, std::int64_t throttled_us);
  struct MemoryOnNode {
    std::int32_t node = 0;
    Bytes anonymous;
    Bytes shared;
  };
  void set_memory(const FakeVm& vm, const std::vector<MemoryOnNode>& memory);
  /// Writes the files memory.min, .low, .high, .max and .swap.max of a cgroup, such as
  /// "machine.slice/".
  void set_memory_limits(const std::string& cgroup, const MemoryLimits& limits);

  /// Writes any file, relative to the root. Directories are created as needed; an existing file is
  /// rewritten in place.
  void write(const std::string& relative, std::string_view text);
  void remove(const std::string& relative);
  void rename(const std::string& relative, const std::string& to);
  /// Makes a symbolic link from there to a directory of the real host.
  void link(const std::string& relative, const std::string& target);

 private:
  TempDirectory directory_;
};

}  // namespace vmnuma::tests
