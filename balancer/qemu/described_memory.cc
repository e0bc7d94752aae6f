// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/qemu/description_parts.h"
#include "placement/base/names.h"
#include "placement/base/number.h"

namespace vmnuma::balancer::qemu {
namespace {

constexpr std::int32_t kMostCells = 128;
constexpr std::int32_t kMostNodes = 1024;
/// For a machine without -m (mc->default_ram_size; other machines have other defaults).
constexpr Bytes kDefaultMemory = kMiB * 128;

/// Parses "0-3" or "5".
std::optional<std::pair<std::int32_t, std::int32_t>> parse_range(std::string_view text,
                                                                 std::int32_t limit) {
  const std::size_t dash = text.find('-');
  const auto first = whole_number<std::int32_t>(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : whole_number<std::int32_t>(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *first > *last || *last >= limit) {
    return std::nullopt;
  }
  return std::pair(*first, *last);
}

struct Backend {
  Bytes size;
  Bytes page_size;  ///< zero: ordinary pages
  bool shared = false;
  NumatuneMode mode = NumatuneMode::kNone;
  std::set<NodeId> nodes;
};

class Memory {
 public:
  Memory(const CommandLine& line, const HostFacts& host, DescribedVm& vm)
      : line_(line), host_(host), vm_(vm.description), described_(vm) {}

  void describe() {
    read_backends();
    vm_.memory = size(line_.merged("m", "size"), kMiB, "-m").value_or(kDefaultMemory);
    if (const auto backend = line_.merged("machine", "memory-backend")) {
      use(*backend);
    } else if (const auto path = line_.merged("mem-path", "value")) {
      vm_.huge_page_size = page_size_of(*path);
    }
    read_cells();
    read_dimms();
    vm_.max_memory = vm_.memory;
    vm_.numatune_nodes.assign(nodes_.begin(), nodes_.end());
    vm_.memory_locked = is_locked();
  }

 private:
  void complain(std::string text) { note(described_, std::move(text)); }

  std::optional<Bytes> size(std::optional<std::string_view> text, Bytes unit,
                            std::string_view what) {
    if (!text) {
      return std::nullopt;
    }
    const auto found = parse_size(*text, unit);
    if (!found) {
      complain(fmt::format("{}: size is '{}'", what, *text));
    }
    return found;
  }

  [[nodiscard]] Bytes page_size_of(std::string_view path) const {
    Bytes found;
    std::size_t longest = 0;
    for (const HugePageMount& mount : host_.huge_page_mounts) {
      const std::string_view mounted = mount.path;
      const bool is_below = path.starts_with(mounted) &&
                            (path.size() == mounted.size() || path[mounted.size()] == '/');
      if (is_below && mounted.size() > longest) {
        longest = mounted.size();
        found = mount.page_size;
      }
    }
    return found;
  }

  NumatuneMode mode_of(const OptionGroup& object) {
    const std::string_view policy = object.value("policy").value_or("default");
    if (policy == "default") {
      return NumatuneMode::kNone;
    }
    if (policy == "bind") {
      return NumatuneMode::kStrict;
    }
    if (policy == "preferred") {
      return NumatuneMode::kPreferred;
    }
    if (policy != "interleave") {
      complain(fmt::format("memory policy '{}' is treated as bind", policy));
      return NumatuneMode::kStrict;
    }
    return NumatuneMode::kInterleave;
  }

  Backend read_backend(const OptionGroup& object, std::string_view kind, std::string_view id) {
    Backend backend;
    backend.size =
        size(object.value("size"), Bytes{1}, fmt::format("object '{}'", id)).value_or(Bytes{});
    backend.shared = object.is_on("share");
    if (kind == "file") {
      backend.page_size = page_size_of(object.value("mem-path").value_or(""));
    } else if (kind == "memfd") {
      backend.shared = !object.value("share") || backend.shared;
      if (object.is_on("hugetlb")) {
        backend.page_size = size(object.value("hugetlbsize"), Bytes{1}, "hugetlbsize")
                                .value_or(host_.default_huge_page_size);
      }
    } else if (kind == "shm" || kind == "epc") {
      backend.shared = true;
    } else if (kind != "ram") {
      complain(fmt::format("object '{}' of type memory-backend-{} is treated as ordinary memory",
                           id, kind));
    }
    backend.mode = mode_of(object);
    for (const std::string_view nodes : object.values("host-nodes")) {
      const auto range = parse_range(nodes, kMostNodes);
      if (!range) {
        complain(fmt::format("object '{}': host-nodes is '{}'", id, nodes));
        continue;
      }
      for (std::int32_t node = range->first; node <= range->second; ++node) {
        backend.nodes.insert({node});
      }
    }
    return backend;
  }

  void read_backends() {
    constexpr std::string_view kPrefix = "memory-backend-";
    for (const OptionGroup& group : line_.options) {
      const std::string_view type = group.value("qom-type").value_or("");
      if (group.name == "object" && type.starts_with(kPrefix)) {
        const std::string_view id = group.value("id").value_or("");
        backends_[std::string(id)] = read_backend(group, type.substr(kPrefix.size()), id);
      }
    }
  }

  /// Uses this backend for the guest's memory, or for a part of it. Null if it does not exist.
  const Backend* use(std::string_view id) {
    const auto found = backends_.find(id);
    if (found == backends_.end()) {
      complain(fmt::format("there is no memory backend '{}'", id));
      return nullptr;
    }
    const Backend& backend = found->second;
    vm_.huge_page_size = std::max(vm_.huge_page_size, backend.page_size);
    vm_.memory_shared |= backend.shared;
    if (backend.mode != NumatuneMode::kNone) {
      vm_.numatune = vm_.numatune == NumatuneMode::kNone ? backend.mode : vm_.numatune;
      nodes_.insert(backend.nodes.begin(), backend.nodes.end());
    }
    return &backend;
  }

  // ---- cells ----

  void read_cells() {
    for (const OptionGroup& group : line_.options) {
      if (group.name != "numa") {
        continue;
      }
      const std::string_view type = group.value("type").value_or("");
      if (type == "node") {
        read_cell(group);
      } else if (type == "cpu") {
        read_cpu_of_cell(group);
      } else if (type != "dist" && type != "hmat-lb" && type != "hmat-cache") {
        complain(fmt::format("-numa: type '{}' is unknown", type));
      }
    }
    std::ranges::sort(vm_.cells, {}, &GuestCell::id);
    share_out_memory();
    share_out_vcpus();
    for (GuestCell& cell : vm_.cells) {
      std::ranges::sort(cell.vcpus);
      const auto found = backends_of_cells_.find(cell.id);
      if (found == backends_of_cells_.end()) {
        continue;
      }
      const Backend& backend = *found->second;
      if (backend.page_size != vm_.huge_page_size) {
        cell.page_size = backend.page_size;
      }
      if (vm_.numatune != NumatuneMode::kNone) {
        cell.binding = {backend.mode, {backend.nodes.begin(), backend.nodes.end()}};
      }
    }
  }

  GuestCell* find_cell(std::int32_t id) {
    const auto found = std::ranges::find(vm_.cells, id, &GuestCell::id);
    return found == vm_.cells.end() ? nullptr : &*found;
  }

  /// The number in `key`, or nothing; an invalid one causes a complaint.
  std::optional<std::int32_t> number(const OptionGroup& group, std::string_view key,
                                     std::int32_t limit) {
    const auto text = group.value(key);
    if (!text) {
      return std::nullopt;
    }
    const auto found = whole_number<std::int32_t>(*text);
    if (!found || *found < 0 || *found >= limit) {
      complain(fmt::format("-numa: {} is '{}'", key, *text));
      return std::nullopt;
    }
    return found;
  }

  void read_cell(const OptionGroup& group) {
    GuestCell cell;
    cell.id =
        number(group, "nodeid", kMostCells).value_or(static_cast<std::int32_t>(vm_.cells.size()));
    if (cell.id >= kMostCells || find_cell(cell.id) != nullptr) {
      complain(fmt::format("guest NUMA cell {} is declared twice, or is one too many", cell.id));
      return;
    }
    for (const std::string_view text : group.values("cpus")) {
      const auto range = parse_range(text, vm_.max_vcpus);
      if (!range) {
        complain(fmt::format("guest NUMA cell {}: cpus is '{}'", cell.id, text));
        continue;
      }
      for (std::int32_t vcpu = range->first; vcpu <= range->second; ++vcpu) {
        add_vcpu(vcpu, cell);
      }
    }
    if (const auto backend = group.value("memdev")) {
      if (const Backend* found = use(*backend)) {
        cell.memory = found->size;
        backends_of_cells_[cell.id] = found;
      }
    } else if (const auto memory = size(group.value("mem"), kMiB, "-numa mem")) {
      cell.memory = *memory;
    } else {
      without_memory_.insert(cell.id);
    }
    vm_.cells.push_back(std::move(cell));
  }

  void add_vcpu(std::int32_t vcpu, GuestCell& cell) {
    if (taken_.insert(vcpu).second) {
      cell.vcpus.push_back(vcpu);
    } else {
      complain(fmt::format("vCPU {} is in two guest NUMA cells", vcpu));
    }
  }

  /// Reads -numa cpu,node-id=0,socket-id=0,core-id=1: assigns all CPUs at that position.
  void read_cpu_of_cell(const OptionGroup& group) {
    const auto id = number(group, "node-id", kMostCells);
    GuestCell* cell = id ? find_cell(*id) : nullptr;
    if (cell == nullptr || vm_.sockets <= 0) {
      complain("-numa cpu: its cell or the machine's topology is not known");
      return;
    }
    const auto socket = number(group, "socket-id", kMostNodes);
    const auto die = number(group, "die-id", kMostNodes);
    const auto core = number(group, "core-id", kMostNodes);
    const auto thread = number(group, "thread-id", kMostNodes);
    for (std::int32_t vcpu = 0; vcpu < vm_.max_vcpus; ++vcpu) {
      const std::int32_t cores_before = vcpu / vm_.threads;
      const std::int32_t dies_before = cores_before / vm_.cores;
      if (thread.value_or(vcpu % vm_.threads) == vcpu % vm_.threads &&
          core.value_or(cores_before % vm_.cores) == cores_before % vm_.cores &&
          die.value_or(dies_before % vm_.dies) == dies_before % vm_.dies &&
          socket.value_or(dies_before / vm_.dies) == dies_before / vm_.dies) {
        add_vcpu(vcpu, *cell);
      }
    }
  }

  /// Divides the remaining memory evenly over cells without a size, as in machines before QEMU 5.1.
  void share_out_memory() {
    if (without_memory_.empty()) {
      return;
    }
    Bytes left = vm_.memory;
    for (const GuestCell& cell : vm_.cells) {
      left -= cell.memory;
    }
    for (const std::int32_t id : without_memory_) {
      find_cell(id)->memory =
          std::max(left, Bytes{}) / static_cast<std::int64_t>(without_memory_.size());
    }
  }

  /// Assigns vCPUs that are in no cell. If no vCPU is in a cell, QEMU distributes them by socket
  /// (pc_get_default_cpu_node_id of hw/i386/x86.c); otherwise they belong to the first cell.
  void share_out_vcpus() {
    if (vm_.cells.empty()) {
      return;
    }
    const bool deals = taken_.empty();
    const std::int32_t of_socket =
        vm_.sockets > 0 ? std::max(vm_.max_vcpus / vm_.sockets, 1) : std::max(vm_.max_vcpus, 1);
    for (std::int32_t vcpu = 0; vcpu < vm_.max_vcpus; ++vcpu) {
      if (!taken_.contains(vcpu)) {
        const auto cell = deals ? static_cast<std::size_t>(vcpu / of_socket) % vm_.cells.size() : 0;
        vm_.cells[cell].vcpus.push_back(vcpu);
      }
    }
  }

  // ---- the rest ----

  /// Reads DIMMs present at the start, which are not included in -m.
  void read_dimms() {
    for (const OptionGroup& group : line_.options) {
      const std::string_view driver = group.value("driver").value_or("");
      if (group.name != "device") {
        continue;
      }
      if (driver.starts_with("virtio-mem")) {
        complain("memory of virtio-mem devices is not counted");
      }
      if (driver != "pc-dimm") {
        continue;
      }
      const Backend* backend = use(group.value("memdev").value_or(""));
      if (backend == nullptr) {
        continue;
      }
      vm_.memory += backend->size;
      if (GuestCell* cell = find_cell(
              whole_number<std::int32_t>(group.value("node").value_or("0")).value_or(-1))) {
        cell->memory += backend->size;
      }
    }
  }

  [[nodiscard]] bool is_locked() const {
    return std::ranges::any_of(line_.options, [](const OptionGroup& group) {
      return (group.name == "overcommit" &&
              (group.is_on("mem-lock") || group.is("mem-lock", "on-fault"))) ||
             (group.name == "realtime" && group.is_on("mlock"));
    });
  }

  const CommandLine& line_;
  const HostFacts& host_;
  VmDescription& vm_;
  DescribedVm& described_;
  std::map<std::string, Backend, std::less<>> backends_;
  std::set<NodeId> nodes_;
  std::set<std::int32_t> taken_;  ///< vCPUs that are in a cell
  std::set<std::int32_t> without_memory_;
  std::map<std::int32_t, const Backend*> backends_of_cells_;
};

}  // namespace

void describe_memory(const CommandLine& line, const HostFacts& host, DescribedVm& vm) {
  Memory(line, host, vm).describe();
}

}  // namespace vmnuma::balancer::qemu
