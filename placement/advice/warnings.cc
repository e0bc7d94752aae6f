// SPDX-License-Identifier: Apache-2.0
#include "placement/advice/warnings.h"

#include <algorithm>
#include <optional>
#include <set>

#include "placement/advice/words.h"
#include "placement/clients.h"
#include "placement/model/text.h"

namespace vmnuma {
namespace {

class Warner {
 public:
  Warner(const VmDescription& vm, const AdviceHost& host)
      : vm_(vm), host_(host), homes_(allowed_homes(host.topology, vm)) {
    for (const NodeIndex home : homes_) {
      const Node& node = host.topology.nodes[home];
      const std::int32_t cores = node.core_count();
      places_.push_back(counts_threads(vm.policy, host.prefer_ht) ? node.cpu_count() : cores);
      largest_memory_ = std::max(largest_memory_, memory_of(node));
      most_vcpus_ = std::max(most_vcpus_, places_.back());
      has_smt_ = has_smt_ || node.cpu_count() > cores;
    }
  }

  std::vector<AdviceWarned> run() {
    if (homes_.empty()) {
      return {};  // it is not known where it could live
    }
    look_at_cells();
    look_at_topology();
    look_at_hot_plug();
    look_at_strict();
    look_at_huge_pages();
    look_at_held_memory();
    return std::move(warned_);
  }

 private:
  void warn(AdviceWarning kind, std::string text) { warned_.push_back({kind, std::move(text)}); }

  /// Returns how much memory a node has in pages of the VM's size.
  [[nodiscard]] Bytes memory_of(const Node& node) const {
    const Bytes size = vm_.huge_page_size;
    return size == Bytes{} ? node.memory : size * pages_of(node.huge_pages, size);
  }

  /// At most as many as there are homes.
  [[nodiscard]] std::size_t clients_without_cells(bool consolidate) const {
    VmDescription plain = vm_;
    plain.policy.consolidate = consolidate;
    plain.cells.clear();
    plain.vcpus.clear();
    for (std::int32_t vcpu = 0; vcpu < vm_.max_vcpus; ++vcpu) {
      plain.vcpus.push_back(vcpu);
    }
    return std::min(split_into_clients(plain, host_.topology, host_.prefer_ht).size(),
                    homes_.size());
  }

  void look_at_cells() {
    const std::size_t needed =
        vm_.cells.size() > 1 ? 1 : clients_without_cells(vm_.policy.consolidate);
    if (needed > 1) {
      warn(AdviceWarning::kNoCells,
           "it lives on " + counted(static_cast<std::int64_t>(needed), "node") +
               ", but the guest sees one: it cannot keep its work near its memory");
    }
    std::size_t fewest = static_cast<std::size_t>(vm_.max_vcpus);
    std::size_t most = 0;
    const GuestCell* too_large = nullptr;
    for (const GuestCell& cell : vm_.cells) {
      if (!fits(cell.vcpus.size(), cell.memory)) {
        too_large = too_large == nullptr ? &cell : too_large;
      }
      if (!cell.vcpus.empty()) {
        fewest = std::min(fewest, cell.vcpus.size());
        most = std::max(most, cell.vcpus.size());
      }
    }
    if (too_large != nullptr) {
      warn(AdviceWarning::kCellTooLarge,
           "cell " + std::to_string(too_large->id) + " has " +
               counted(static_cast<std::int64_t>(too_large->vcpus.size()), "vCPU") + " and " +
               memory_text(too_large->memory) + ", more than any node it may live on" +
               limit_text());
    } else if (vm_.cells.empty() && !memory_fits_in(needed)) {
      warn(AdviceWarning::kCellTooLarge,
           "its " + memory_text(vm_.max_memory) + " are more than any node it may live on has" +
               limit_text() +
               (memory_fits_in(clients_without_cells(/*consolidate=*/false))
                    ? "; policy consolidate=false makes cells that fit"
                    : ""));
    } else if (vm_.cells.empty() && needed <= 1 &&
               !fits(static_cast<std::size_t>(vm_.max_vcpus), vm_.max_memory)) {
      warn(AdviceWarning::kCellTooLarge,
           "its " + counted(vm_.max_vcpus, "vCPU") + " and " + memory_text(vm_.max_memory) +
               " are together more than any node it may live on has" + limit_text());
    }
    if (most > fewest) {
      warn(AdviceWarning::kOddSplit,
           "its cells have " + std::to_string(fewest) + " to " +
               counted(static_cast<std::int64_t>(most), "vCPU") +
               ", so that no socket larger than a core fits all; a number of vCPUs divisible by " +
               std::to_string(vm_.cells.size()) + " would make them equal");
    }
  }

  [[nodiscard]] bool memory_fits_in(std::size_t cells) const {
    return fits(0, vm_.max_memory / std::max<std::int64_t>(static_cast<std::int64_t>(cells), 1));
  }
  [[nodiscard]] bool fits(std::size_t vcpus, Bytes memory) const {
    for (std::size_t i = 0; i < homes_.size(); ++i) {
      if (static_cast<std::int64_t>(vcpus) <= places_[i] &&
          memory <= memory_of(host_.topology.nodes[homes_[i]])) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] std::string limit_text() const {
    return " (" + counted(most_vcpus_, "vCPU") + " and " + memory_text(largest_memory_) +
           (vm_.huge_page_size == Bytes{} ? "" : " in huge pages") + " at most)";
  }

  void look_at_topology() {
    const std::int32_t threads = std::max(vm_.threads, 1);
    const std::int32_t per_socket = threads * std::max(vm_.cores, 1) * std::max(vm_.dies, 1);
    // Without <topology> libvirt makes a socket of each vCPU.
    const std::int32_t sockets = vm_.sockets > 0 ? vm_.sockets : vm_.max_vcpus;
    if (const std::optional<std::int32_t> socket = socket_in_two_cells(per_socket)) {
      warn(AdviceWarning::kSocketAcrossCells,
           "socket " + std::to_string(*socket) +
               " lies in two cells: Linux then drops the scheduling domains that it would have");
    }
    const auto nodes =
        static_cast<std::int32_t>(std::max(vm_.cells.size(), host_.topology.nodes.size()));
    // Unequal cells leave no choice but a socket for each core.
    if (sockets > nodes && (vm_.cells.size() < 2 || cells_are_equal())) {
      warn(AdviceWarning::kMoreSocketsThanNodes,
           "its " + counted(vm_.max_vcpus, "vCPU") + " are in " + counted(sockets, "socket") +
               (vm_.sockets > 0 ? "" : ", because it has no <topology>,") + " and the host has " +
               counted(static_cast<std::int64_t>(host_.topology.nodes.size()), "node") +
               ": the guest believes that they share no cache");
    }
    if (threads > 1 && !has_smt_) {
      warn(AdviceWarning::kThreadsWithoutSmt,
           "it has " + std::to_string(threads) +
               " threads a core, which the host does not have: the guest leaves half of its vCPUs "
               "idle as long as it can");
    }
  }

  [[nodiscard]] bool cells_are_equal() const {
    return std::ranges::all_of(vm_.cells, [this](const GuestCell& cell) {
      return cell.vcpus.size() == vm_.cells.front().vcpus.size();
    });
  }

  /// The first such socket; nothing if there is none.
  [[nodiscard]] std::optional<std::int32_t> socket_in_two_cells(std::int32_t per_socket) const {
    std::vector<std::int32_t> cell_of(static_cast<std::size_t>(vm_.max_vcpus), -1);
    for (const GuestCell& cell : vm_.cells) {
      for (const std::int32_t vcpu : cell.vcpus) {
        cell_of[static_cast<std::size_t>(vcpu)] = cell.id;
      }
    }
    for (std::int32_t vcpu = 1; vcpu < vm_.max_vcpus; ++vcpu) {
      const auto at = static_cast<std::size_t>(vcpu);
      if (vcpu % per_socket != 0 && cell_of[at] != cell_of[at - 1]) {
        return vcpu / per_socket;
      }
    }
    return std::nullopt;
  }

  void look_at_hot_plug() {
    if (vm_.cells.empty() || vm_.vcpus.size() == static_cast<std::size_t>(vm_.max_vcpus)) {
      return;
    }
    std::string text = std::to_string(vm_.vcpus.size()) + " of " + counted(vm_.max_vcpus, "vCPU") +
                       " are plugged in, and the cell of each is fixed at the start";
    for (const GuestCell& cell : vm_.cells) {
      if (!cell.vcpus.empty() && std::ranges::none_of(cell.vcpus, [this](std::int32_t vcpu) {
            return std::ranges::binary_search(vm_.vcpus, vcpu);
          })) {
        text += "; cell " + std::to_string(cell.id) + " has memory and no vCPU until then";
        break;
      }
    }
    warn(AdviceWarning::kHotPlugWithCells, std::move(text));
  }

  /// Memory that is bound strictly: a cell's, or memory that is in no cell.
  struct Bound {
    std::optional<std::int32_t> cell;
    Bytes memory;
    Bytes page_size;
    std::vector<NodeId> nodes;
  };

  [[nodiscard]] std::vector<Bound> strictly_bound() const {
    const bool all = vm_.numatune == NumatuneMode::kStrict && !vm_.numatune_auto;
    std::vector<Bound> bound;
    Bytes rest = vm_.max_memory;
    bool has_own_bindings = false;
    for (const GuestCell& cell : vm_.cells) {
      if (cell.binding ? cell.binding->mode == NumatuneMode::kStrict : all) {
        bound.push_back({cell.id, cell.memory, cell.page_size.value_or(vm_.huge_page_size),
                         cell.binding ? cell.binding->nodes : vm_.numatune_nodes});
      }
      rest -= cell.memory;
      has_own_bindings = has_own_bindings || cell.binding;
    }
    // Memory that is plugged in later is bound as its cell is.
    if (all && rest > Bytes{} && !has_own_bindings) {
      bound.push_back({std::nullopt, rest, vm_.huge_page_size, vm_.numatune_nodes});
    }
    std::erase_if(bound, [](const Bound& one) { return one.nodes.empty(); });
    return bound;
  }

  /// Memory that may only lie on certain nodes has to fit there: all bound memory together, and the
  /// memory bound to the nodes of each cell.
  void look_at_strict() {
    const std::vector<Bound> bound = strictly_bound();
    std::set<NodeId> all;
    std::set<std::vector<NodeId>> sets;
    std::set<Bytes> page_sizes;
    for (const Bound& one : bound) {
      all.insert(one.nodes.begin(), one.nodes.end());
      sets.insert(one.nodes);
      page_sizes.insert(one.page_size);
    }
    for (const Bytes page_size : page_sizes) {
      if (is_without_room(bound, {all.begin(), all.end()}, page_size)) {
        return;
      }
      for (const std::vector<NodeId>& nodes : sets) {
        if (is_without_room(bound, nodes, page_size)) {
          return;
        }
      }
    }
  }

  /// Warns if the part of `bound` that consists of such pages and can lie nowhere else is more than
  /// these nodes have room for.
  bool is_without_room(const std::vector<Bound>& bound, const std::vector<NodeId>& nodes,
                       Bytes page_size) {
    Bytes needed;
    std::vector<std::string> cells;
    for (const Bound& one : bound) {
      if (one.page_size == page_size &&
          std::includes(nodes.begin(), nodes.end(), one.nodes.begin(), one.nodes.end())) {
        needed += one.memory;
        if (one.cell) {
          cells.push_back(std::to_string(*one.cell));
        }
      }
    }
    Bytes room;
    for (const NodeId id : nodes) {
      if (const auto node = host_.topology.index_of(id)) {
        room += room_on(*node, page_size);
      }
    }
    if (room >= needed) {
      return false;
    }
    const bool is_of_now =
        page_size == Bytes{} ? !host_.free.empty() : !host_.free_huge_pages.empty();
    warn(AdviceWarning::kStrictWithoutRoom,
         (cells.empty() || needed >= vm_.max_memory ? "its memory"
          : cells.size() == 1                       ? "memory of cell " + cells.front()
                                                    : "memory of cells " + each_text(cells)) +
             " is bound to node " + to_list(nodes) + ", where " + memory_text(room) +
             (is_of_now ? " are free" : " are") +
             (page_size == Bytes{} ? "" : " in huge pages of " + memory_text(page_size)) +
             ": not enough for " + memory_text(needed));
    return true;
  }

  /// For memory made of such pages; zero: ordinary ones.
  [[nodiscard]] Bytes room_on(NodeIndex node, Bytes page_size) const {
    const Node& known = host_.topology.nodes[node];
    if (page_size > Bytes{}) {
      return page_size * pages_of(host_.free_huge_pages.empty() ? known.huge_pages
                                                                : host_.free_huge_pages[node],
                                  page_size);
    }
    return host_.free.empty() ? known.memory : host_.free[node];
  }

  /// Each cell needs a node that has its pages; together they need as many as the host has.
  void look_at_huge_pages() {
    for (const PagesOfSize& wanted : memory_by_page_size(vm_)) {
      if (wanted.page_size == Bytes{}) {
        continue;
      }
      Bytes all;
      Bytes largest;
      for (const NodeIndex home : homes_) {
        const Bytes pool = room_on(home, wanted.page_size);
        all += pool;
        largest = std::max(largest, pool);
      }
      Bytes needed = vm_.cells.empty() ? wanted.memory : Bytes{};
      for (const GuestCell& cell : vm_.cells) {
        if (cell.page_size.value_or(vm_.huge_page_size) == wanted.page_size) {
          needed = std::max(needed, cell.memory);
        }
      }
      const bool one_by_one = all >= wanted.memory;
      if (!one_by_one || largest < needed) {
        warn(AdviceWarning::kHugePagesTooFew,
             std::string(vm_.cells.empty() || !one_by_one ? "it" : "its largest cell") + " needs " +
                 memory_text(one_by_one ? needed : wanted.memory) + " in huge pages of " +
                 memory_text(wanted.page_size) + ", but " +
                 (one_by_one ? "no node has more than " + memory_text(largest)
                             : "its nodes have " + memory_text(all)) +
                 (host_.free_huge_pages.empty() ? "" : " free"));
        return;
      }
    }
  }

  void look_at_held_memory() {
    const auto held = why_memory_is_held(vm_);
    if (!held || vm_.policy.memory_mode == MemoryMode::kHandsOff) {
      return;
    }
    constexpr std::string_view kEncryption = "memory encryption";
    if (vm_.memory_pinned_by.starts_with(kEncryption)) {
      warn(AdviceWarning::kOnlyStartCounts,
           *held + ": it can be put on the right nodes only when it starts");
    } else {
      warn(AdviceWarning::kMemoryStays, *held + ": it stays where it starts");
    }
  }

  const VmDescription& vm_;
  const AdviceHost& host_;
  std::vector<NodeIndex> homes_;
  std::vector<std::int32_t> places_;  ///< for vCPUs on each of them
  Bytes largest_memory_;
  std::int32_t most_vcpus_ = 0;
  bool has_smt_ = false;
  std::vector<AdviceWarned> warned_;
};

}  // namespace

bool calls_for_change(AdviceWarning warning) {
  switch (warning) {
    case AdviceWarning::kNoCells:
    case AdviceWarning::kCellTooLarge:
    case AdviceWarning::kSocketAcrossCells:
    case AdviceWarning::kThreadsWithoutSmt:
    case AdviceWarning::kStrictWithoutRoom:
    case AdviceWarning::kHugePagesTooFew:
      return true;
    case AdviceWarning::kOddSplit:
    case AdviceWarning::kMoreSocketsThanNodes:
    case AdviceWarning::kHotPlugWithCells:
    case AdviceWarning::kMemoryStays:
    case AdviceWarning::kOnlyStartCounts:
      break;
  }
  return false;
}

std::vector<AdviceWarned> warnings_about(const VmDescription& vm, const AdviceHost& host) {
  return Warner(vm, host).run();
}

}  // namespace vmnuma
