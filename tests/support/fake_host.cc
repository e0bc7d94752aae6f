// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_host.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include <fmt/format.h>

#include "placement/model/text.h"

namespace vmnuma::tests {
namespace {

constexpr const char* kCpuRoot = "sys/devices/system/cpu/";
constexpr const char* kNodeRoot = "sys/devices/system/node/";

/// Returns the kernel's mask format: 32-bit words in hexadecimal, highest first, separated by
/// commas.
std::string to_mask(const std::vector<CpuId>& cpus) {
  constexpr std::size_t kWordBits = 32;
  std::vector<std::uint32_t> words(1);
  for (const CpuId cpu : cpus) {
    const auto bit = static_cast<std::size_t>(cpu.value);
    words.resize(std::max(words.size(), bit / kWordBits + 1));
    words[bit / kWordBits] |= std::uint32_t{1} << (bit % kWordBits);
  }
  std::string mask;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    mask += fmt::format("{}{:08x}", mask.empty() ? "" : ",", *word);
  }
  return mask + "\n";
}

std::vector<FakeCpu> all_cpus(const std::vector<FakeNode>& nodes) {
  std::vector<FakeCpu> cpus;
  for (const FakeNode& node : nodes) {
    cpus.insert(cpus.end(), node.cpus.begin(), node.cpus.end());
  }
  std::sort(cpus.begin(), cpus.end(),
            [](const FakeCpu& a, const FakeCpu& b) { return a.id < b.id; });
  return cpus;
}

/// Returns the ids of those CPUs for which `belongs` holds; `cpus` is ascending.
std::vector<CpuId> ids_of(const std::vector<FakeCpu>& cpus,
                          const std::function<bool(const FakeCpu&)>& belongs) {
  std::vector<CpuId> ids;
  for (const FakeCpu& cpu : cpus) {
    if (belongs(cpu)) {
      ids.push_back(CpuId{cpu.id});
    }
  }
  return ids;
}

std::vector<CpuId> ids_of(const std::vector<FakeCpu>& cpus) {
  return ids_of(cpus, [](const FakeCpu&) { return true; });
}

std::string node_directory(std::int32_t id) {
  return fmt::format("{}node{}/", kNodeRoot, id);
}

void write_cpu(FakeHost& host, const FakeCpu& cpu, const std::vector<FakeCpu>& all) {
  const std::string directory = fmt::format("{}cpu{}/", kCpuRoot, cpu.id);
  const auto core = ids_of(all, [&](const FakeCpu& other) { return other.core == cpu.core; });
  const auto package =
      ids_of(all, [&](const FakeCpu& other) { return other.package == cpu.package; });
  const auto cache = ids_of(
      all, [&](const FakeCpu& other) { return other.last_level_cache == cpu.last_level_cache; });
  host.write(directory + "online", "1\n");
  host.write(directory + "topology/core_id", fmt::format("{}\n", cpu.core));
  host.write(directory + "topology/core_cpus", to_mask(core));
  host.write(directory + "topology/thread_siblings", to_mask(core));
  host.write(directory + "topology/physical_package_id", fmt::format("{}\n", cpu.package));
  host.write(directory + "topology/package_cpus", to_mask(package));
  host.write(directory + "topology/core_siblings", to_mask(package));
  host.write(directory + "cache/index0/level", "1\n");
  host.write(directory + "cache/index0/type", "Data\n");
  host.write(directory + "cache/index0/size", "32K\n");
  host.write(directory + "cache/index0/shared_cpu_map", to_mask(core));
  host.write(directory + "cache/index3/level", "3\n");
  host.write(directory + "cache/index3/type", "Unified\n");
  host.write(directory + "cache/index3/size", "16384K\n");
  host.write(directory + "cache/index3/shared_cpu_map", to_mask(cache));
}

}  // namespace

std::vector<FakeNode> regular_nodes(std::int32_t count, std::int32_t cores, std::int32_t threads,
                                    Bytes memory) {
  std::vector<FakeNode> nodes;
  for (std::int32_t id = 0; id < count; ++id) {
    FakeNode node{.id = id, .cpus = {}, .memory = memory, .huge_pages = {}};
    for (std::int32_t thread = 0; thread < threads; ++thread) {
      for (std::int32_t core = id * cores; core < (id + 1) * cores; ++core) {
        node.cpus.push_back({.id = thread * count * cores + core,
                             .core = core,
                             .package = id,
                             .last_level_cache = id});
      }
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

VmId FakeVm::id() const {
  VmId id;
  id.uuid.back() = uuid;
  return id;
}

VmDescription FakeVm::description() const {
  VmDescription description;
  description.id = id();
  description.name = name;
  description.domain_id = domain_id;
  for (const FakeVcpu& vcpu : vcpus) {
    description.vcpus.push_back(vcpu.number);
  }
  description.max_vcpus = static_cast<std::int32_t>(vcpus.size());
  return description;
}

std::string FakeVm::process_directory() const {
  return fmt::format("proc/{}/", pid);
}

std::string FakeVm::thread_directory(std::int64_t tid) const {
  return fmt::format("{}task/{}/", process_directory(), tid);
}

std::string FakeVm::scope() const {
  return fmt::format("sys/fs/cgroup/machine.slice/machine-qemu\\x2d{}\\x2d{}.scope/", domain_id,
                     name);
}

std::string FakeVm::vcpu_group(std::int32_t vcpu) const {
  return fmt::format("{}libvirt/vcpu{}/", scope(), vcpu);
}

void FakeHost::set_nodes(const std::vector<FakeNode>& nodes) {
  const std::vector<FakeCpu> cpus = all_cpus(nodes);
  for (const FakeCpu& cpu : cpus) {
    write_cpu(*this, cpu, cpus);
  }
  const std::string online = to_list(ids_of(cpus)) + "\n";
  write(fmt::format("{}online", kCpuRoot), online);
  write(fmt::format("{}possible", kCpuRoot), online);
  write(fmt::format("{}isolated", kCpuRoot), "\n");

  std::vector<NodeId> ids;
  std::vector<NodeId> with_cpus;
  std::vector<NodeId> with_memory;
  for (const FakeNode& node : nodes) {
    ids.push_back(NodeId{node.id});
    if (!node.cpus.empty()) {
      with_cpus.push_back(NodeId{node.id});
    }
    if (node.memory > Bytes{}) {
      with_memory.push_back(NodeId{node.id});
    }
    std::vector<FakeCpu> own = node.cpus;
    std::sort(own.begin(), own.end(),
              [](const FakeCpu& a, const FakeCpu& b) { return a.id < b.id; });
    write(node_directory(node.id) + "cpulist", to_list(ids_of(own)) + "\n");
    write(node_directory(node.id) + "cpumap", to_mask(ids_of(own)));
    set_node_memory(node.id, node.memory, node.memory);
    for (const HugePagePool& pool : node.huge_pages) {
      const std::string directory = fmt::format(
          "{}hugepages/hugepages-{}kB/", node_directory(node.id), pool.page_size.value / 1024);
      write(directory + "nr_hugepages", fmt::format("{}\n", pool.pages));
      write(directory + "free_hugepages", fmt::format("{}\n", pool.pages));
    }
  }
  write(fmt::format("{}online", kNodeRoot), to_list(ids) + "\n");
  write(fmt::format("{}has_cpu", kNodeRoot), to_list(with_cpus) + "\n");
  write(fmt::format("{}has_memory", kNodeRoot), to_list(with_memory) + "\n");

  std::vector<std::vector<std::int32_t>> rows(nodes.size(),
                                              std::vector<std::int32_t>(nodes.size(), 20));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    rows[i][i] = kLocalDistance;
  }
  set_distances(nodes, rows);
  set_cpu_times(nodes, 0);
}

void FakeHost::set_distances(const std::vector<FakeNode>& nodes,
                             const std::vector<std::vector<std::int32_t>>& rows) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    write(node_directory(nodes[i].id) + "distance", fmt::format("{}\n", fmt::join(rows[i], " ")));
  }
}

void FakeHost::set_node_memory(std::int32_t node, Bytes total, Bytes free) {
  write(node_directory(node) + "meminfo",
        fmt::format("Node {0} MemTotal:       {1} kB\n"
                    "Node {0} MemFree:        {2} kB\n"
                    "Node {0} MemUsed:        {3} kB\n",
                    node, total.value / 1024, free.value / 1024, (total - free).value / 1024));
}

void FakeHost::set_cpu_times(const std::vector<FakeNode>& nodes, std::int64_t idle_us) {
  constexpr std::int64_t kMicrosecondsPerTick = 10'000;
  std::string text = "cpu  0 0 0 0 0 0 0 0 0 0\n";
  for (const FakeCpu& cpu : all_cpus(nodes)) {
    text += fmt::format("cpu{} 0 0 0 {} 0 0 0 0 0 0\n", cpu.id, idle_us / kMicrosecondsPerTick);
  }
  write("proc/stat", text + "intr 0\nctxt 0\nbtime 1700000000\n");
}

void FakeHost::start(const FakeVm& vm) {
  const std::string process = vm.process_directory();
  write(fmt::format("run/libvirt/qemu/{}.pid", vm.name), std::to_string(vm.pid));
  write(process + "stat",
        fmt::format("{} (qemu-system-x86) S 1 1 1 0 -1 138412416 1 0 0 0 5 6 0 0 20 0 4 0 {} 0 0\n",
                    vm.pid, vm.start_time_ticks));
  std::string cmdline = "/usr/bin/qemu-system-x86_64|-name|guest=" + vm.name +
                        ",debug-threads=on|-uuid|" + to_text(vm.id()) + "|";
  std::replace(cmdline.begin(), cmdline.end(), '|', '\0');
  write(process + "cmdline", cmdline);
  write(process + "oom_score_adj", "0\n");
  write(process + "numa_maps",
        "55d000000000 default file=/usr/bin/qemu mapped=3 N0=3 kernelpagesize_kB=4\n"
        "7f0000000000 default anon=16384 dirty=16384 N0=16384 kernelpagesize_kB=4\n");
  if (vm.in_cgroup) {
    const std::string path = vm.scope().substr(std::string_view("sys/fs/cgroup").size());
    write(process + "cgroup", fmt::format("0::{}libvirt/emulator\n", path));
    write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
    write(vm.scope() + "cpu.weight", "100\n");
    write(vm.scope() + "cpu.max", "max 100000\n");
    write(vm.scope() + "libvirt/cpu.max", "max 100000\n");
    write(vm.scope() + "libvirt/emulator/cgroup.threads", fmt::format("{}\n", vm.pid));
    set_memory(vm, {{.node = 0, .anonymous = kMiB * 64, .shared = {}}});
    set_memory_limits(vm.scope(), {});
    set_memory_limits("sys/fs/cgroup/machine.slice/", {});
    write(vm.scope() + "memory.swap.current", "0\n");
  } else {
    write(process + "cgroup", "1:cpu:/machine/qemu-1.libvirt-qemu/emulator\n0::/\n");
  }
  write(vm.thread_directory(vm.pid) + "comm", "qemu-system-x86\n");
  for (const FakeVcpu& vcpu : vm.vcpus) {
    plug(vm, vcpu);
  }
}

void FakeHost::stop(const FakeVm& vm) {
  remove(fmt::format("run/libvirt/qemu/{}.pid", vm.name));
  remove(vm.process_directory());
  remove(vm.scope());
}

void FakeHost::plug(const FakeVm& vm, FakeVcpu vcpu) {
  write(vm.thread_directory(vcpu.tid) + "comm", fmt::format("CPU {}/KVM\n", vcpu.number));
  set_vcpu_times(vm, vcpu, 0, 0);
  if (vm.in_cgroup) {
    write(vm.vcpu_group(vcpu.number) + "cgroup.threads", fmt::format("{}\n", vcpu.tid));
    set_quota(vm, vcpu.number, "max 100000");
    set_throttled(vm, vcpu.number, 0);
  }
}

void FakeHost::unplug(const FakeVm& vm, FakeVcpu vcpu) {
  remove(vm.thread_directory(vcpu.tid));
  remove(vm.vcpu_group(vcpu.number));
}

void FakeHost::set_vcpu_times(const FakeVm& vm, FakeVcpu vcpu, std::int64_t run_ns,
                              std::int64_t wait_ns) {
  write(vm.thread_directory(vcpu.tid) + "schedstat", fmt::format("{} {} 1\n", run_ns, wait_ns));
}

void FakeHost::set_last_cpu(const FakeVm& vm, FakeVcpu vcpu, std::int32_t cpu) {
  std::string fields;
  for (int field = 4; field < 39; ++field) {
    fields += " 0";
  }
  write(vm.thread_directory(vcpu.tid) + "stat",
        fmt::format("{} (CPU {}/KVM) R{} {} 0 0\n", vcpu.tid, vcpu.number, fields, cpu));
}

void FakeHost::set_quota(const FakeVm& vm, std::int32_t vcpu, std::string_view cpu_max) {
  write(vm.vcpu_group(vcpu) + "cpu.max", fmt::format("{}\n", cpu_max));
}

void FakeHost::set_throttled(const FakeVm& vm, std::int32_t vcpu, std::int64_t throttled_us) {
  write(vm.vcpu_group(vcpu) + "cpu.stat",
        fmt::format("usage_usec 0\nuser_usec 0\nsystem_usec 0\nnr_periods 0\nnr_throttled 0\n"
                    "throttled_usec {}\n",
                    throttled_us));
}

void FakeHost::set_memory(const FakeVm& vm, const std::vector<MemoryOnNode>& memory) {
  std::string anon = "anon";
  std::string file = "file";
  std::string shmem = "shmem";
  Bytes anonymous;
  Bytes shared;
  Bytes cached;
  for (const MemoryOnNode& part : memory) {
    anonymous += part.anonymous;
    shared += part.shared;
    cached += kMiB;
    anon += fmt::format(" N{}={}", part.node, part.anonymous.value);
    file += fmt::format(" N{}={}", part.node, (part.shared + kMiB).value);
    shmem += fmt::format(" N{}={}", part.node, part.shared.value);
  }
  write(vm.scope() + "memory.numa_stat", anon + "\n" + file + "\n" + shmem + "\n");
  write(vm.scope() + "memory.stat",
        fmt::format("anon {}\nfile {}\nshmem {}\nunevictable 0\n", anonymous.value,
                    (shared + cached).value, shared.value));
}

void FakeHost::set_memory_limits(const std::string& cgroup, const MemoryLimits& limits) {
  const auto text = [](const std::optional<Bytes>& limit) {
    return limit ? fmt::format("{}\n", limit->value) : std::string("max\n");
  };
  write(cgroup + "memory.min", text(limits.min));
  write(cgroup + "memory.low", text(limits.low));
  write(cgroup + "memory.high", text(limits.high));
  write(cgroup + "memory.max", text(limits.max));
  write(cgroup + "memory.swap.max", text(limits.swap_max));
}

void FakeHost::write(const std::string& relative, std::string_view text) {
  const std::filesystem::path file = std::filesystem::path(path()) / relative;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  VMNUMA_CHECK(!stream.fail());
}

void FakeHost::rename(const std::string& relative, const std::string& to) {
  const std::filesystem::path root = path();
  std::filesystem::rename(root / relative, root / to);
}

void FakeHost::remove(const std::string& relative) {
  std::filesystem::remove_all(std::filesystem::path(path()) / relative);
}

void FakeHost::link(const std::string& relative, const std::string& target) {
  const std::filesystem::path file = std::filesystem::path(path()) / relative;
  std::filesystem::create_directories(file.parent_path());
  std::filesystem::create_directory_symlink(target, file);
}

}  // namespace vmnuma::tests
