// SPDX-License-Identifier: Apache-2.0
#include "placement/admission.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "placement/base/sorted.h"
#include "placement/clients.h"
#include "placement/memory_room.h"
#include "placement/model/text.h"

namespace vmnuma {
namespace {

/// Indices of the first resources that request_of() makes. The resources of memory_by_page_size()
/// follow, in its order.
constexpr std::size_t kCpus = 0;
constexpr std::size_t kMemory = 1;

/// Returns how many of `amounts`, largest first, add up to `asked`; nothing if all together do not.
std::optional<std::size_t> fewest(std::vector<std::int64_t> amounts, std::int64_t asked) {
  std::sort(amounts.rbegin(), amounts.rend());
  std::size_t count = 0;
  for (std::int64_t sum = 0; sum < asked; sum += amounts[count++]) {
    if (count == amounts.size()) {
      return std::nullopt;
    }
  }
  return count;
}

std::vector<std::int64_t> amounts_on(const std::vector<NodeIndex>& nodes,
                                     const std::vector<std::int64_t>& by_node) {
  std::vector<std::int64_t> amounts;
  amounts.reserve(nodes.size());
  for (const NodeIndex node : nodes) {
    amounts.push_back(std::max<std::int64_t>(by_node[node], 0));
  }
  return amounts;
}

/// How good a set is among those of its size; less is better.
struct Rank {
  std::int64_t distance = 0;
  std::int64_t load = 0;
  auto operator<=>(const Rank&) const = default;
};

/// The best set of a given size, found depth-first.
class Search {
 public:
  Search(const Topology& topology, const AdmissionRequest& request)
      : topology_(topology), request_(request), nodes_(request.allowed) {
    // Device nodes come first, because they are in every set. Then the least loaded, and the next
    // in turn: of equally good sets the first one found is kept.
    std::ranges::sort(nodes_, [this](NodeIndex a, NodeIndex b) {
      return std::tuple(!is_device(a), load_of(a), turn_of(a)) <
             std::tuple(!is_device(b), load_of(b), turn_of(b));
    });
    must_ = static_cast<std::size_t>(
        std::ranges::count_if(nodes_, [this](NodeIndex n) { return is_device(n); }));
    for (const NodeResource& resource : request.resources) {
      if (resource.asked > 0 && amounts_.size() == kMostResources) {
        requests_too_many_ = true;
      } else if (resource.asked > 0) {
        asked_[amounts_.size()] = resource.asked;
        amounts_.push_back(amounts_on(nodes_, resource.available));
        best_of_rest_.push_back(best_sums(amounts_.back()));
      }
    }
  }

  /// Returns the fewest nodes that may be enough; nothing if all of them are not.
  [[nodiscard]] std::optional<std::size_t> smallest() const {
    std::size_t size = std::max<std::size_t>(must_, 1);
    if (requests_too_many_) {
      return std::nullopt;  // page sizes that no host has
    }
    if (must_ < request_.devices.size()) {
      return std::nullopt;  // a device is on a node where the VM may not live
    }
    for (std::size_t r = 0; r < amounts_.size(); ++r) {
      const auto needed = fewest(amounts_[r], asked_[r]);
      if (!needed) {
        return std::nullopt;
      }
      size = std::max(size, *needed);
    }
    return size;
  }

  [[nodiscard]] std::optional<std::vector<NodeIndex>> of_size(std::size_t size) {
    size_ = size;
    best_.reset();
    chosen_.clear();
    descend(0, asked_, {});
    if (!best_) {
      return std::nullopt;
    }
    std::vector<NodeIndex> nodes = best_->second;
    std::ranges::sort(nodes);
    return nodes;
  }

  [[nodiscard]] bool gave_up() const { return steps_ >= kMostAdmissionSteps; }

 private:
  using Amounts = std::array<std::int64_t, kMostResources>;

  [[nodiscard]] bool is_device(NodeIndex node) const {
    return std::ranges::binary_search(request_.devices, node);
  }
  [[nodiscard]] std::int64_t load_of(NodeIndex node) const {
    return request_.load.empty() ? 0 : request_.load[node];
  }
  [[nodiscard]] std::size_t turn_of(NodeIndex node) const {
    const std::size_t count = topology_.nodes.size();
    return request_.last == kNoNode ? node : (node + count - request_.last % count - 1) % count;
  }

  /// [from][count]: the most that any `count` of the nodes starting at `from` have together.
  static std::vector<std::vector<std::int64_t>> best_sums(
      const std::vector<std::int64_t>& amounts) {
    std::vector<std::vector<std::int64_t>> sums(amounts.size() + 1);
    std::vector<std::int64_t> sorted;
    for (std::size_t from = amounts.size() + 1; from-- > 0;) {
      if (from < amounts.size()) {
        sorted.insert(std::ranges::upper_bound(sorted, amounts[from], std::greater<std::int64_t>()),
                      amounts[from]);
      }
      sums[from].push_back(0);
      for (const std::int64_t amount : sorted) {
        sums[from].push_back(sums[from].back() + amount);
      }
    }
    return sums;
  }

  /// Returns true if a set that is enough, and better than the best so far, may lie below this
  /// branch.
  [[nodiscard]] bool is_worth_it(std::size_t from, const Amounts& missing, Rank rank) const {
    const std::size_t left = size_ - chosen_.size();
    if (left > nodes_.size() - from) {
      return false;
    }
    for (std::size_t r = 0; r < amounts_.size(); ++r) {
      if (missing[r] > best_of_rest_[r][from][left]) {
        return false;
      }
    }
    if (best_ && from >= must_) {
      for (std::size_t i = 0; i < left; ++i) {
        rank.load += load_of(nodes_[from + i]);  // nodes_ is in this order
      }
      return rank < best_->first;
    }
    return true;
  }

  void descend(std::size_t from, const Amounts& missing, Rank rank) {
    if (gave_up() || !is_worth_it(from, missing, rank)) {
      return;
    }
    if (chosen_.size() == size_) {
      best_.emplace(rank, chosen_);
      return;
    }
    // A device's node is never left out.
    const std::size_t end = from < must_ ? from + 1 : nodes_.size();
    for (std::size_t next = from; next < end; ++next) {
      ++steps_;
      const NodeIndex node = nodes_[next];
      Amounts then = missing;
      for (std::size_t r = 0; r < amounts_.size(); ++r) {
        then[r] -= amounts_[r][next];
      }
      Rank with{rank.distance, rank.load + load_of(node)};
      for (const NodeIndex other : chosen_) {
        with.distance += request_.prefer_closest
                             ? topology_.distance(other, node) + topology_.distance(node, other)
                             : 0;
      }
      chosen_.push_back(node);
      descend(next + 1, then, with);
      chosen_.pop_back();
    }
  }

  const Topology& topology_;
  const AdmissionRequest& request_;
  std::vector<NodeIndex> nodes_;
  bool requests_too_many_ = false;
  std::size_t must_ = 0;  ///< how many of the first nodes are in every set
  Amounts asked_{};
  std::vector<std::vector<std::int64_t>> amounts_;  ///< by resource, as nodes_
  std::vector<std::vector<std::vector<std::int64_t>>> best_of_rest_;
  std::size_t size_ = 0;
  std::vector<NodeIndex> chosen_;
  std::optional<std::pair<Rank, std::vector<NodeIndex>>> best_;
  std::int64_t steps_ = 0;
};

/// The parts that are admitted one by one: the whole VM, or each of its clients with its share of
/// everything.
std::vector<VmDescription> parts_of(const VmDescription& vm, const Topology& topology,
                                    bool prefer_ht) {
  if (vm.policy.topology_scope == TopologyScope::kVm) {
    return {vm};
  }
  std::vector<VmDescription> parts;
  VmDescription whole = vm;
  whole.memory = vm.max_memory;
  for (const ClientShape& client : split_into_clients(whole, topology, prefer_ht)) {
    VmDescription part = vm;
    part.vcpus = client.vcpus;
    part.memory = part.max_memory = client.memory;
    std::erase_if(part.cells, [&client](const GuestCell& cell) {
      return std::ranges::find(client.cells, cell.id) == client.cells.end();
    });
    if (!parts.empty()) {
      part.pci_devices.clear();
      part.mediated_devices.clear();
      part.host_interfaces.clear();
      part.host_disks.clear();
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Takes `asked` from what is available on these nodes, as much as possible from each in turn.
template <class Take>
void take(std::int64_t asked, const NodeResource& resource, const std::vector<NodeIndex>& nodes,
          const Take& take_from) {
  for (const NodeIndex node : nodes) {
    const std::int64_t here =
        std::clamp<std::int64_t>(resource.available[node], 0, std::max<std::int64_t>(asked, 0));
    take_from(node, here);
    asked -= here;
  }
}

NodeResource ordinary_memory(const Topology& topology, Bytes asked, const FreeForVm& free) {
  NodeResource memory{"MiB of memory", asked.value / kMiB.value};
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    const Bytes room = node < free.room.size() ? free.room[node] : Bytes{};
    const Bytes most =
        node < free.capacity.size() ? free.capacity[node] : outside_pools(topology.nodes[node]);
    memory.available.push_back(room.value / kMiB.value);
    memory.capacity.push_back(most.value / kMiB.value);
  }
  return memory;
}

/// For a pool that `free` does not list, the size is the topology's, and nothing of it is free.
NodeResource huge_pages(const Topology& topology, const PagesOfSize& asked,
                        const std::vector<FreeHugePages>& free) {
  const Bytes size = asked.page_size;
  NodeResource pages{"huge pages of " + std::to_string(size.value / 1024) + " KiB",
                     divided_up(asked.memory.value, size.value)};
  for (const Node& node : topology.nodes) {
    const auto told = std::ranges::find_if(free, [&](const FreeHugePages& one) {
      return one.node == node.id && one.page_size == size;
    });
    pages.available.push_back(told == free.end() ? 0 : told->free);
    pages.capacity.push_back(told == free.end() ? pages_of(node.huge_pages, size) : told->total);
  }
  return pages;
}

/// Subtracts what a part of the VM was admitted with from what is free for the other parts.
void take_memory(const Topology& topology, const VmDescription& part,
                 const AdmissionRequest& request, const std::vector<NodeIndex>& nodes,
                 FreeForVm& free, std::vector<MemoryOnNode>& taken) {
  std::size_t index = kMemory;
  for (const PagesOfSize& pages : memory_by_page_size(part)) {
    const NodeResource& resource = request.resources[index++];
    const Bytes unit = pages.page_size > Bytes{} ? pages.page_size : kMiB;
    take(resource.asked, resource, nodes, [&](NodeIndex node, std::int64_t count) {
      if (count == 0) {
        return;
      }
      taken.push_back({topology.nodes[node].id, pages.page_size, unit * count});
      if (pages.page_size == Bytes{}) {
        free.room[node] -= unit * count;
      }
      for (FreeHugePages& one : free.huge_pages) {
        const bool is_pool =
            one.node == topology.nodes[node].id && one.page_size == pages.page_size;
        one.free -= is_pool ? count : 0;
      }
    });
  }
}

bool is_too_large(const Topology& topology, const AdmissionRequest& request) {
  return request.max_allowable_nodes > 0 &&
         topology.nodes.size() > static_cast<std::size_t>(request.max_allowable_nodes);
}

}  // namespace

AdmissionRequest request_of(const Topology& topology, const VmDescription& vm,
                            const FreeForVm& free) {
  AdmissionRequest request;
  request.policy = vm.policy.topology_policy;
  request.prefer_closest = vm.policy.prefer_closest_numa_nodes;
  request.max_allowable_nodes = vm.policy.max_allowable_numa_nodes;
  request.allowed = allowed_homes(topology, vm.policy);
  keep_where_memory_may_lie(topology, vm, request.allowed);
  keep_its_sockets(topology, vm, request.allowed);
  if (vm.policy.device_locality != DeviceLocality::kSocket) {
    request.devices = device_nodes(topology, vm);
  }
  NodeResource cpus{"CPUs", static_cast<std::int64_t>(vm.vcpus.size())};
  for (const Node& node : topology.nodes) {
    cpus.available.push_back(node.cpu_count());
  }
  cpus.capacity = cpus.available;
  request.resources.push_back(std::move(cpus));
  for (const PagesOfSize& pages : memory_by_page_size(vm)) {
    request.resources.push_back(pages.page_size == Bytes{}
                                    ? ordinary_memory(topology, pages.memory, free)
                                    : huge_pages(topology, pages, free.huge_pages));
  }
  return request;
}

VmAdmission admit_vm(const Topology& topology, const VmDescription& vm, bool prefer_ht,
                     FreeForVm free, const CompleteRequest& complete) {
  VmAdmission result;
  const std::vector<VmDescription> parts = parts_of(vm, topology, prefer_ht);
  std::vector<std::int64_t> cpus_taken(topology.nodes.size());
  std::int64_t number = 0;
  for (const VmDescription& part : parts) {
    AdmissionRequest request = request_of(topology, part, free);
    complete(request, part);
    NodeResource& cpus = request.resources[kCpus];
    for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
      cpus.available[node] -= cpus_taken[node];
    }
    const Admission admission = admit(topology, request);
    const bool is_met = admission.preferred || request.policy == TopologyPolicy::kNone;
    if (!admission.admitted || !is_met) {
      std::optional<std::string>& why = admission.admitted ? result.unmet : result.refused;
      why = (parts.size() > 1 ? "for client " + std::to_string(number) + " the " : std::string()) +
            refusal_text(topology, request);
    }
    if (!admission.admitted) {
      result.nodes = request.allowed;
      return result;
    }
    ++number;
    result.nodes.insert(result.nodes.end(), admission.nodes.begin(), admission.nodes.end());
    take(cpus.asked, cpus, admission.nodes,
         [&](NodeIndex node, std::int64_t count) { cpus_taken[node] += count; });
    take_memory(topology, part, request, admission.nodes, free, result.memory);
  }
  result.nodes = sorted_unique(std::move(result.nodes));
  return result;
}

std::optional<std::size_t> fewest_nodes(const AdmissionRequest& request) {
  std::size_t needed = std::max<std::size_t>(request.devices.size(), 1);
  for (const NodeResource& resource : request.resources) {
    const auto alone = fewest(amounts_on(request.allowed, resource.capacity), resource.asked);
    if (!alone) {
      return std::nullopt;
    }
    needed = std::max(needed, *alone);
  }
  return needed;
}

Admission admit(const Topology& topology, const AdmissionRequest& request) {
  Admission admission;
  admission.nodes = request.allowed;
  const bool must_align = request.policy == TopologyPolicy::kRestricted ||
                          request.policy == TopologyPolicy::kSingleNumaNode;
  if (request.policy == TopologyPolicy::kNone || is_too_large(topology, request)) {
    admission.admitted = !must_align;
    return admission;
  }
  Search search(topology, request);
  const std::optional<std::size_t> smallest = search.smallest();
  for (std::size_t size = smallest.value_or(request.allowed.size() + 1);
       size <= request.allowed.size() && !admission.enough && !search.gave_up(); ++size) {
    if (auto nodes = search.of_size(size)) {
      admission.enough = true;
      const auto fewest = fewest_nodes(request);
      admission.preferred = fewest && nodes->size() <= *fewest;
      admission.nodes = std::move(*nodes);
    }
  }
  // If the search gave up, all allowed nodes together are enough; otherwise a resource is short.
  admission.enough = admission.enough || (smallest && search.gave_up());
  admission.admitted =
      !must_align || (admission.enough && (request.policy == TopologyPolicy::kRestricted
                                               ? admission.preferred
                                               : admission.nodes.size() == 1));
  return admission;
}

std::string shortage_text(const Topology& topology, const AdmissionRequest& request) {
  std::string asked;
  for (const NodeResource& resource : request.resources) {
    if (resource.asked > 0) {
      asked += (asked.empty() ? "" : ", ") + std::to_string(resource.asked) + " " + resource.name;
    }
  }
  if (!request.devices.empty()) {
    asked += (asked.empty() ? "" : ", ") + std::string("devices of node ") +
             to_list(topology.ids_of(request.devices));
  }
  std::string text =
      request.policy == TopologyPolicy::kSingleNumaNode
          ? "no single node has all that the VM needs: "
          : "what the VM needs is not free on as few nodes as this host could give it: ";
  text += asked + ". Free were";
  for (std::size_t i = 0; i < request.allowed.size(); ++i) {
    const NodeIndex node = request.allowed[i];
    text += (i == 0 ? " on node " : "; on node ") + std::to_string(topology.nodes[node].id.value);
    bool first = true;
    for (const NodeResource& resource : request.resources) {
      if (resource.asked > 0) {
        text += (first ? " " : ", ") +
                std::to_string(std::max<std::int64_t>(resource.available[node], 0)) + " " +
                resource.name;
        first = false;
      }
    }
  }
  return request.allowed.empty() ? text + " no nodes" : text;
}

std::string refusal_text(const Topology& topology, const AdmissionRequest& request) {
  const std::string text =
      "topology_policy is '" + std::string(name_of(request.policy)) + "', but ";
  if (is_too_large(topology, request)) {
    return text + "this host has " + std::to_string(topology.nodes.size()) +
           " nodes and max_allowable_numa_nodes is " + std::to_string(request.max_allowable_nodes);
  }
  return text + shortage_text(topology, request);
}

}  // namespace vmnuma
