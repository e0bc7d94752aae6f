// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include "placement/advice/advice.h"
#include "placement/advice/cache_groups.h"
#include "placement/advice/near_nodes.h"
#include "placement/advice/pool_devices.h"
#include "placement/advice/words.h"
#include "placement/clients.h"
#include "placement/model/text.h"

namespace vmnuma {
namespace {

/// The unit to which libvirt rounds up the memory of each cell (qemuDomainGetMemorySizeAlignment,
/// qemu/qemu_domain.c, 9.0).
constexpr Bytes kCellAlignment = kMiB;
/// Size of transparent huge pages on x86.
constexpr Bytes kHugePage = kMiB * 2;

/// Returns the hardware threads of a core, if it is the same number on every core of these nodes;
/// else 1.
std::int32_t threads_per_core(const Topology& topology, const std::vector<NodeIndex>& nodes) {
  std::int32_t threads = 0;
  for (const NodeIndex node : nodes) {
    const std::int32_t cores = topology.nodes[node].core_count();
    const std::int32_t cpus = topology.nodes[node].cpu_count();
    if (cpus % cores != 0 || (threads != 0 && cpus / cores != threads)) {
      return 1;
    }
    threads = cpus / cores;
  }
  return std::max(threads, 1);
}

/// Returns the physical core of a CPU; nothing if the host does not have it.
std::optional<std::pair<NodeIndex, std::int32_t>> core_of(const Topology& topology, CpuId cpu) {
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    for (const Cpu& known : topology.nodes[node].cpus) {
      if (known.id == cpu) {
        return std::pair(node, known.core);
      }
    }
  }
  return std::nullopt;
}

/// Returns true if each run of `threads` vCPUs is pinned to the threads of one core, one each.
bool pinned_to_siblings(const VmDescription& vm, const Topology& topology, std::int32_t threads) {
  if (vm.vcpu_pins.size() != static_cast<std::size_t>(vm.max_vcpus)) {
    return false;
  }
  std::vector<CpuId> used;
  std::optional<std::pair<NodeIndex, std::int32_t>> core;
  for (std::size_t i = 0; i < vm.vcpu_pins.size(); ++i) {
    const Pin& pin = vm.vcpu_pins[i];
    if (pin.number != static_cast<std::int32_t>(i) || pin.cpus.size() != 1) {
      return false;
    }
    const auto here = core_of(topology, pin.cpus.front());
    if (!here || (i % static_cast<std::size_t>(threads) != 0 && here != core)) {
      return false;
    }
    core = here;
    used.push_back(pin.cpus.front());
  }
  std::ranges::sort(used);
  return std::ranges::adjacent_find(used) == used.end();
}

class Advisor {
 public:
  Advisor(const AdviceRequest& request, const AdviceHost& host)
      : request_(request), vm_(request.vm), host_(host) {
    take_nodes_of_pins();
  }

  Result<Advice> run() {
    if (vm_.max_vcpus <= 0) {
      return failure(ErrorCode::kInvalidArgument, "'" + vm_.name + "' has no vCPU");
    }
    base_ = vm_.max_memory;
    if (!vm_.cells.empty()) {
      base_ = sum_of(vm_.cells, &GuestCell::memory);
    }
    if (base_ <= Bytes{}) {
      return failure(ErrorCode::kInvalidArgument, "'" + vm_.name + "' has no memory");
    }
    homes_ = allowed_homes(host_.topology, vm_);
    if (homes_.empty()) {
      return failure(ErrorCode::kNoSpace, "the host has no node with both CPUs and memory");
    }
    VMNUMA_RETURN_IF_ERROR(decide_devices());
    advice_.vcpus = vm_.max_vcpus;
    advice_.page_size = vm_.huge_page_size;
    decide_threads();
    decide_cells();
    decide_topology();
    decide_distances();
    decide_cache();
    decide_memory();
    decide_pages();
    decide_io_threads();
    return std::move(advice_);
  }

 private:
  /// An administrator who pins vCPUs to CPUs wants them on their nodes, and the memory there as
  /// well.
  void take_nodes_of_pins() {
    if (vm_.numatune == NumatuneMode::kRestrictive && !vm_.numatune_auto) {
      return;
    }
    std::vector<CpuId> pinned;
    for (const Pin& pin : vm_.vcpu_pins) {
      pinned.insert(pinned.end(), pin.cpus.begin(), pin.cpus.end());
    }
    std::ranges::sort(pinned);
    std::vector<NodeId> nodes;
    for (const NodeIndex node : host_.topology.homes()) {
      const std::vector<Cpu>& cpus = host_.topology.nodes[node].cpus;
      if (std::ranges::any_of(
              cpus, [&](const Cpu& cpu) { return std::ranges::binary_search(pinned, cpu.id); })) {
        nodes.push_back(host_.topology.nodes[node].id);
      }
    }
    if (!nodes.empty()) {
      is_led_by_pins_ = true;
      vm_.numatune = NumatuneMode::kRestrictive;
      vm_.numatune_auto = false;
      vm_.numatune_nodes = std::move(nodes);
    }
  }

  void say(AdviceAbout about, std::string what, std::string reason, std::string rule) {
    advice_.lines.push_back({about, std::move(what), std::move(reason), std::move(rule)});
  }

  /// Comes first: the nodes of the devices determine where the VM is.
  Result<void> decide_devices() {
    VMNUMA_ASSIGN_OR_RETURN(auto choices, pool_devices(request_, host_, homes_));
    for (PoolChoice& choice : choices) {
      std::erase_if(vm_.pci_devices, [&choice](const PciDevice& device) {
        return device.address == choice.device.instead_of ||
               device.address == choice.device.address;
      });
      vm_.pci_devices.push_back({choice.device.address, choice.node});
      say(AdviceAbout::kDevices, choice.device.address + " of the pool '" + choice.pool + "'",
          std::move(choice.reason), "device_pool, in its policy and in vmnuma.toml(5)");
      advice_.devices.push_back(std::move(choice.device));
    }
    homes_ = allowed_homes(host_.topology, vm_);
    return {};
  }

  void decide_threads() {
    const std::int32_t threads = threads_per_core(host_.topology, homes_);
    has_whole_cores_ = vm_.policy.cpu_binding == CpuBinding::kExclusive &&
                       vm_.policy.cpu_policy == CpuPolicy::kFullPCPUs;
    is_pinned_ = threads > 1 && pinned_to_siblings(vm_, host_.topology, threads);
    host_threads_ = threads;
    advice_.threads =
        threads > 1 && vm_.max_vcpus % threads == 0 && (has_whole_cores_ || is_pinned_) ? threads
                                                                                        : 1;
  }

  /// Returns the clients into which the planner would split the VM if the guest saw no nodes: these
  /// are the cells.
  [[nodiscard]] std::vector<ClientShape> shapes() const {
    VmDescription plain = vm_;
    plain.vcpus.resize(static_cast<std::size_t>(vm_.max_vcpus));
    std::iota(plain.vcpus.begin(), plain.vcpus.end(), 0);
    plain.cells.clear();
    plain.sockets = vm_.max_vcpus / advice_.threads;
    plain.dies = 1;
    plain.cores = 1;
    plain.threads = advice_.threads;
    plain.memory = base_;
    return split_into_clients(plain, host_.topology, host_.prefer_ht);
  }

  void decide_cells() {
    std::vector<ClientShape> parts = shapes();
    if (std::ranges::any_of(parts, [this](const ClientShape& part) {
          return part.vcpus.size() % static_cast<std::size_t>(advice_.threads) != 0;
        })) {
      advice_.threads = 1;
      parts = shapes();
    }
    if (parts.size() > homes_.size()) {
      parts = one_for_each_home();
    }
    const bool is_wide = parts.size() > 1;
    advice_.memory = base_;
    if (!is_wide && !request_.memory_hotplug) {
      say(AdviceAbout::kCells, "no cells",
          homes_.size() == 1 ? "there is one node that it may live on"
                             : "its " + counted(vm_.max_vcpus, "vCPU") + fits_text(),
          "the fewest nodes that hold it: a VM no wider than a node sees one");
      return;
    }
    share_memory(parts);
    std::vector<std::string> vcpus;
    std::vector<std::string> memory;
    for (const GuestCell& cell : advice_.cells) {
      vcpus.push_back(std::to_string(cell.vcpus.size()));
      memory.push_back(memory_text(cell.memory));
    }
    const auto count = static_cast<std::int64_t>(parts.size());
    const std::string what =
        counted(count, "cell") + " of " + each_text(vcpus) + " vCPUs and " + each_text(memory);
    if (is_wide) {
      say(AdviceAbout::kCells, what,
          "its " + counted(vm_.max_vcpus, "vCPU") + " are more than one node takes" + size_text(),
          vm_.policy.max_per_node > 0 || vm_.policy.max_per_client > 0
              ? "max_per_node and max_per_client of its policy, as numa.vcpu.maxPerVirtualNode"
              : "the fewest nodes that hold it, vCPUs spread evenly: as numa.autosize");
    } else {
      say(AdviceAbout::kCells, what,
          "memory can be plugged in, which libvirt allows only with a cell",
          "<maxMemory> needs <numa>");
    }
  }

  /// For a VM that is too large for all its nodes together: a guest gains nothing from more cells
  /// than nodes.
  [[nodiscard]] std::vector<ClientShape> one_for_each_home() const {
    const std::int32_t cores = vm_.max_vcpus / advice_.threads;
    const auto homes = static_cast<std::int32_t>(homes_.size());
    std::vector<ClientShape> parts(std::min(homes_.size(), static_cast<std::size_t>(cores)));
    std::int32_t next = 0;
    for (std::int32_t i = 0; i < std::min(homes, cores); ++i) {
      const std::int32_t count = (cores / homes + (i < cores % homes ? 1 : 0)) * advice_.threads;
      ClientShape& part = parts[static_cast<std::size_t>(i)];
      part.vcpus.resize(static_cast<std::size_t>(count));
      std::iota(part.vcpus.begin(), part.vcpus.end(), next);
      next += count;
    }
    return parts;
  }

  /// " fit the 8 cores of a node".
  [[nodiscard]] std::string fits_text() const {
    const std::int64_t places = places_on(homes_.front());
    const bool same =
        std::ranges::all_of(homes_, [&](NodeIndex home) { return places_on(home) == places; });
    const std::string unit = counts_threads() ? "thread" : "core";
    return same ? " fit the " + counted(places, unit) + " of a node"
                : " fit the " + unit + "s of a node";
  }
  /// ": 8 cores", or the limit that applies instead.
  [[nodiscard]] std::string size_text() const {
    std::int64_t fewest = places_on(homes_.front());
    for (const NodeIndex home : homes_) {
      fewest = std::min(fewest, places_on(home));
    }
    for (const std::int32_t most : {vm_.policy.max_per_node, vm_.policy.max_per_client}) {
      if (most > 0 && most < fewest) {
        return ", which its policy limits to " + std::to_string(most);
      }
    }
    if (vm_.max_vcpus <= fewest) {
      return " of its memory, and `consolidate` is off";
    }
    return ": " + counted(fewest, counts_threads() ? "thread" : "core");
  }
  [[nodiscard]] bool counts_threads() const {
    return vmnuma::counts_threads(vm_.policy, host_.prefer_ht);
  }
  [[nodiscard]] std::int64_t places_on(NodeIndex node) const {
    return counts_threads() ? host_.topology.nodes[node].cpu_count()
                            : host_.topology.nodes[node].core_count();
  }

  /// In whole pages, in proportion to the vCPUs; pages that are left over go to the first cells.
  void share_memory(const std::vector<ClientShape>& parts) {
    const auto count = static_cast<std::int64_t>(parts.size());
    Bytes unit = vm_.huge_page_size;
    if (unit == Bytes{}) {
      const Bytes rounded = kCellAlignment * divided_up(base_.value, kCellAlignment.value);
      unit = rounded.value % kHugePage.value == 0 && rounded >= kHugePage * count ? kHugePage
                                                                                  : kCellAlignment;
    }
    const std::int64_t units = std::max(divided_up(base_.value, unit.value), count);
    std::int64_t left = units - count;  // one is given to each cell
    for (const ClientShape& part : parts) {
      GuestCell cell;
      cell.id = static_cast<std::int32_t>(advice_.cells.size());
      cell.vcpus = part.vcpus;
      const std::int64_t more =
          scaled(Bytes{units - count}, static_cast<std::int64_t>(part.vcpus.size()), vm_.max_vcpus)
              .value;
      cell.memory = unit * (1 + more);
      left -= more;
      advice_.cells.push_back(std::move(cell));
    }
    for (std::size_t i = 0; left > 0; i = (i + 1) % advice_.cells.size(), --left) {
      advice_.cells[i].memory += unit;
    }
    advice_.memory = unit * units;
  }

  void decide_topology() {
    std::size_t smallest = static_cast<std::size_t>(vm_.max_vcpus);
    std::size_t largest = 0;
    for (const GuestCell& cell : advice_.cells) {
      smallest = std::min(smallest, cell.vcpus.size());
      largest = std::max(largest, cell.vcpus.size());
    }
    const bool even = advice_.cells.empty() || smallest == largest;
    advice_.cores = even ? std::max(static_cast<std::int32_t>(smallest) / advice_.threads, 1) : 1;
    advice_.sockets = vm_.max_vcpus / advice_.cores / advice_.threads;
    dies_ = dies_of_caches(vm_, host_.topology, homes_, std::max(smallest, largest), advice_.cores,
                           advice_.threads);
    if (request_.is_x86 && dies_) {
      advice_.dies = *dies_;
      advice_.cores /= advice_.dies;
    }
    const std::string what = counted(advice_.sockets, "socket") + " of " +
                             (advice_.dies > 1 ? counted(advice_.dies, "die") + " of " : "") +
                             counted(advice_.cores, "core") + " and " +
                             counted(advice_.threads, "thread");
    if (even) {
      const bool is_one_cache = dies_ == 1;
      say(AdviceAbout::kTopology, what,
          advice_.cells.size() > 1
              ? std::string("a socket for each cell: the guest knows what shares ") +
                    (is_one_cache ? "a cache and a node" : "a node")
              : std::string("one socket: the guest knows that its vCPUs share ") +
                    (is_one_cache ? "a cache" : "a node"),
          "cores per socket follow the nodes, never the other way round");
    } else {
      say(AdviceAbout::kTopology, what,
          "the cells are not equal, and a larger socket would lie in two of them",
          "a socket in two nodes makes Linux drop the guest's scheduling domains");
    }
    advise_threads();
  }

  void advise_threads() {
    if (host_threads_ == 1) {
      return;
    }
    if (advice_.threads > 1) {
      say(AdviceAbout::kThreads, counted(advice_.threads, "thread") + " a core",
          is_pinned_ ? "its vCPUs are pinned to the threads of the same cores"
                     : "it has whole cores of its own (FullPCPUs)",
          "threads are shown to the guest only if they are real");
      if (request_.is_x86) {
        // no_autoenable_flags of FEAT_8000_0001_ECX, target/i386/cpu.c, QEMU 7.2.
        say(AdviceAbout::kFeatures, "the CPU feature topoext, if the host's processors are AMD's",
            "without it an AMD guest sees the threads as cores, and by default QEMU gives it only "
            "to EPYC models",
            "<feature policy='require' name='topoext'/>");
      }
    } else {
      say(AdviceAbout::kThreads, "1 thread a core",
          has_whole_cores_ || is_pinned_
              ? "its vCPUs, or those of a cell, are not those of whole cores"
              : "its vCPUs run on any CPU of a node, so no two of them are siblings",
          counts_threads() ? "preferHT counts threads to size the VM, but shows the guest cores"
                           : "threads are shown to the guest only if they are real");
    }
  }

  void decide_distances() {
    if (advice_.cells.size() < 2) {
      return;
    }
    const Bytes each = std::ranges::max_element(advice_.cells, [](const auto& a, const auto& b) {
                         return a.memory < b.memory;
                       })->memory;
    nodes_ = near_nodes(host_, homes_for_cells(), device_nodes(host_.topology, vm_),
                        advice_.cells.size(), each);
    constexpr std::int32_t kTakenForGranted = 20;
    std::vector<std::int32_t> distances = distances_between(host_.topology, nodes_);
    if (std::ranges::all_of(distances, [](std::int32_t distance) {
          return distance == kLocalDistance || distance == kTakenForGranted;
        })) {
      return;
    }
    advice_.distances = std::move(distances);
    say(AdviceAbout::kDistances, "those of " + node_or_nodes(host_.topology.ids_of(nodes_)),
        "guests assume 20 between all nodes, which is not true here",
        "the nearest nodes that have room; Linux reclaims and balances by distance");
  }

  /// Returns the nodes for cells: memory that cannot be moved stays on the nodes that its
  /// definition names already, if they are enough.
  [[nodiscard]] std::vector<NodeIndex> homes_for_cells() const {
    if (!why_memory_is_held(vm_) || vm_.numatune_auto) {
      return homes_;
    }
    std::vector<NodeIndex> named;
    for (const NodeIndex home : homes_) {
      if (std::ranges::find(vm_.numatune_nodes, host_.topology.nodes[home].id) !=
          vm_.numatune_nodes.end()) {
        named.push_back(home);
      }
    }
    return named.size() < advice_.cells.size() ? homes_ : named;
  }

  void decide_cache() {
    if (!request_.is_x86 || vm_.max_vcpus < 2) {
      return;
    }
    if (!dies_) {
      say(AdviceAbout::kCache, "left as it is",
          "nodes here have several last-level caches, and its vCPUs are not bound to them in equal "
          "groups, so nothing that the guest could be told about shared caches is true",
          "caches are shown to the guest only if they are real");
      return;
    }
    advice_.shows_cache = true;
    say(AdviceAbout::kCache,
        advice_.dies > 1 ? "one L3 cache for each die" : "one L3 cache for each socket",
        advice_.dies > 1 ? "its vCPUs are pinned to CPUs that share one"
                         : "the host's own numbers would describe its cores, not the guest's vCPUs",
        "QEMU makes an L3 cache for each die of the guest");
  }

  void decide_memory() {
    if (vm_.numatune == NumatuneMode::kRestrictive && !vm_.numatune_auto &&
        !vm_.numatune_nodes.empty()) {
      advice_.binding = AdvisedBinding::kNodes;
      advice_.nodes = vm_.numatune_nodes;
      say(AdviceAbout::kMemory, "restrictive, on " + node_or_nodes(advice_.nodes),
          is_led_by_pins_ ? "its vCPUs are pinned to CPUs there"
                          : "that is what its definition says",
          "nodes named in the definition are kept");
      return;
    }
    const auto held = why_memory_is_held(vm_);
    if (held && advice_.cells.size() > 1) {
      advice_.binding = AdvisedBinding::kCells;
      advice_.nodes = advice_.cell_nodes = host_.topology.ids_of(nodes_);
      say(AdviceAbout::kMemory,
          "each cell on a node of its own, of " + node_or_nodes(advice_.nodes),
          *held + ", so it stays where it starts",
          "<memnode>, in mode preferred: it always starts");
      return;
    }
    say(AdviceAbout::kStart, "placement auto",
        "libvirt then asks where it should start, and it need not be moved there",
        "vmnuma-numad(8)");
    say(AdviceAbout::kMemory, "restrictive, placement auto",
        held ? *held + ", so it should start where it will live"
             : "it starts there and can follow its vCPUs; strict would bind it permanently",
        "vmnuma-numad(8): memory is guided, not bound");
  }

  void decide_pages() {
    if (advice_.page_size == Bytes{}) {
      return;
    }
    say(AdviceAbout::kPages, "huge pages of " + memory_text(advice_.page_size),
        "its memory is made of them, each cell of whole ones",
        advice_.memory == base_ ? "<memoryBacking><hugepages>"
                                : "rounded up from " + memory_text(base_) + " to whole pages");
  }

  void decide_io_threads() {
    std::vector<std::int32_t> ids = vm_.io_threads;
    if (ids.empty() && request_.virtio_disks > 0 && vm_.max_vcpus > 1) {
      const auto most = std::max<std::size_t>(advice_.cells.size(), 1);
      ids.resize(std::min(most, static_cast<std::size_t>(request_.virtio_disks)));
      std::iota(ids.begin(), ids.end(), 1);
    }
    advice_.io_threads = static_cast<std::int32_t>(ids.size());
    if (ids.empty()) {
      return;
    }
    say(AdviceAbout::kIoThreads, counted(advice_.io_threads, "I/O thread"),
        vm_.io_threads.empty() ? "its virtio disks are then not served by QEMU's main loop"
                               : "that is what its definition says",
        "one for each cell that has a disk, at least one");
    if (advice_.binding != AdvisedBinding::kCells) {
      return;  // they follow their client
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      Pin pin{ids[i], {}};
      for (const Cpu& cpu : host_.topology.nodes[nodes_[i % nodes_.size()]].cpus) {
        pin.cpus.push_back(cpu.id);
      }
      advice_.io_thread_pins.push_back(std::move(pin));
    }
    say(AdviceAbout::kIoThreadPins, "each pinned to the node of a cell",
        "the memory that they read and write stays there", "<iothreadpin>");
  }

  const AdviceRequest& request_;
  VmDescription vm_;
  const AdviceHost& host_;
  bool is_led_by_pins_ = false;
  std::vector<NodeIndex> homes_;
  std::vector<NodeIndex> nodes_;  ///< one for each of several cells
  Bytes base_;                    ///< all memory except what is plugged in as devices
  std::int32_t host_threads_ = 1;
  bool has_whole_cores_ = false;
  bool is_pinned_ = false;
  std::optional<std::int32_t> dies_;  ///< of a socket, by caches; nothing: no caches are certain
  Advice advice_;
};

}  // namespace

Result<Advice> advise(const AdviceRequest& request, const AdviceHost& host) {
  return Advisor(request, host).run();
}

}  // namespace vmnuma
