// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/ledger.h"

#include <algorithm>

#include "balancer/core/averages.h"
#include "balancer/core/entitlement.h"
#include "balancer/core/epoch_reading.h"
#include "balancer/core/guards.h"
#include "balancer/core/vm_measurement.h"

namespace vmnuma::balancer {

namespace {

/// The longest time between two samples that are compared, several times the largest
/// Numa.RebalancePeriod: what VMs used in hours for which the daemon was stopped says little about
/// now, and more than the time of a thousand CPUs in eight minutes does not fit into a NodeLoad.
constexpr Microseconds kLongestEpoch{8 * 60 * kMicrosecondsPerSecond};
constexpr Microseconds kForecastsHoldFor{kForecastMinutes * 60 * kMicrosecondsPerSecond};
/// Pages that a transfer left behind are tried again after this many epochs, three times as many
/// each time.
constexpr std::int64_t kFirstPullAgain = 6;
constexpr std::int64_t kLastPullAgain = 300;
/// The first epoch in which a client has been at home from beginning to end.
constexpr std::int64_t kFirstWholeEpoch = 2;
/// A transfer that left more than this many times what it moved has moved next to nothing.
constexpr std::int64_t kLeftPerMoved = 20;

/// Returns how many epochs to wait until what a transfer left is tried again, if that transfer was
/// itself such a try, after `last` epochs.
std::int64_t pull_again_after(std::int64_t last, Bytes moved, Bytes left_behind) {
  const bool in_vain = left_behind > moved * kLeftPerMoved;
  if (last >= kLastPullAgain) {
    return in_vain ? kNotAgain : kLastPullAgain;
  }
  return std::clamp(last * 3, kFirstPullAgain, kLastPullAgain);
}

/// Returns the nodes to which all these vCPUs are pinned: those of the CPUs in their pins that VMs
/// may use. None if any of them is not pinned.
std::vector<NodeId> pinned_nodes(const std::vector<std::int32_t>& vcpus,
                                 const std::vector<Pin>& pins, const Topology& topology) {
  std::vector<CpuId> cpus;
  for (const std::int32_t vcpu : vcpus) {
    const auto pin = std::ranges::find(pins, vcpu, &Pin::number);
    if (pin == pins.end() || pin->cpus.empty()) {
      return {};
    }
    cpus.insert(cpus.end(), pin->cpus.begin(), pin->cpus.end());
  }
  return topology.nodes_of(cpus);
}

/// Returns true if only distances differ. Then takes over the former pools of huge pages, which
/// samples have kept up to date.
bool take_over_pools(const Topology& before, Topology& now) {
  std::vector<Node> nodes = now.nodes;
  for (std::size_t i = 0; i < std::min(nodes.size(), before.nodes.size()); ++i) {
    nodes[i].huge_pages = before.nodes[i].huge_pages;
  }
  if (nodes != before.nodes) {
    return false;
  }
  now.nodes = std::move(nodes);
  return true;
}

}  // namespace

Ledger::Ledger(Topology topology, Options options)
    : topology_(std::move(topology)), options_(options) {}

void Ledger::set_options(const Options& options) {
  options_ = options;
  for (auto& [id, vm] : vms_) {
    fit_to_host(vm);  // clients may be sized by threads now
  }
}

void Ledger::set_topology(Topology topology) {
  const bool same_nodes = take_over_pools(topology_, topology);
  topology_ = std::move(topology);
  if (same_nodes) {
    return;  // only distances have changed
  }
  node_averages_ = {};
  for (auto& [id, vm] : vms_) {
    vm.memory.reset();
    fit_to_host(vm);
  }
}

void Ledger::set_domains(const std::vector<VmDescription>& running) {
  std::map<VmId, VmRecord> next;
  for (const VmDescription& description : running) {
    VmRecord record;
    if (const auto known = vms_.find(description.id); known != vms_.end()) {
      record = std::move(known->second);
    } else {
      record.found_running = !knows_domains_;
    }
    record.description = description;
    fit_to_host(record);
    next.emplace(description.id, std::move(record));
  }
  vms_ = std::move(next);
  knows_domains_ = true;
}

/// Splits the VM again; clients keep their number, home and history, as many as there still are.
void Ledger::fit_to_host(VmRecord& vm) const {
  vm.allowed = allowed_homes(topology_, vm.description);
  std::vector<ClientShape> shapes =
      split_into_clients(vm.description, topology_, options_.prefer_ht != 0);
  vm.clients.resize(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ClientRecord& client = vm.clients[i];
    client.shape = std::move(shapes[i]);
    const std::vector<NodeId> pinned =
        pinned_nodes(client.shape.vcpus, vm.description.vcpu_pins, topology_);
    client.pinned_to = pinned.size() == 1 ? pinned.front() : NodeId{};
    client.pinned_to_two = pinned.size() == 2 ? pinned : std::vector<NodeId>{};
    const std::optional<NodeIndex> home = topology_.index_of(client.home);
    if (!home || !std::ranges::binary_search(vm.allowed, *home)) {
      client.home = NodeId{};
    }
    const std::optional<NodeIndex> second = topology_.index_of(client.spills_to);
    if (client.home.value < 0 || !second || topology_.nodes[*second].cpus.empty()) {
      client.spills_to = NodeId{};
    }
  }
}

namespace {

ClientRecord* find_client(std::map<VmId, VmRecord>& vms, const ClientId& id) {
  const auto vm = vms.find(id.vm);
  if (vm == vms.end() || id.index < 0 ||
      static_cast<std::size_t>(id.index) >= vm->second.clients.size()) {
    return nullptr;
  }
  return &vm->second.clients[static_cast<std::size_t>(id.index)];
}

void end_spill(ClientRecord& client) {
  client.spills_to = NodeId{};
  client.spill_saves = CpuTime{};
}

void count(MigrationCounts& counts, Reason reason) {
  switch (reason) {
    case Reason::kLoadMove:
    case Reason::kForecastMove:
      ++counts.balance;
      break;
    case Reason::kLoadSwap:
      ++counts.load_swap;
      break;
    case Reason::kLocalityMove:
    case Reason::kAffinityMove:
      ++counts.locality;
      break;
    case Reason::kLocalitySwap:
      ++counts.locality_swap;
      break;
    case Reason::kLongTermMove:
    case Reason::kLongTermSwap:
      ++counts.long_term;
      break;
    case Reason::kAdministrator:
    case Reason::kMakeRoom:
      ++counts.administrator;
      break;
    case Reason::kInitialPlacement:
    case Reason::kMemoryPull:
    case Reason::kCpuAssignment:
    case Reason::kSpill:
      break;
  }
}

}  // namespace

void Ledger::set_home(const ClientId& id, NodeId node, Reason reason) {
  ClientRecord* client = find_client(vms_, id);
  if (client == nullptr || !topology_.index_of(node) || client->home == node) {
    return;
  }
  if (client->home.value >= 0) {
    client->came_from_before = client->came_from;
    client->came_from = client->home;
  }
  client->home = node;
  client->epochs_here = 0;
  end_spill(*client);
  vms_.at(id.vm).pull_again_after = 0;
  vms_.at(id.vm).epochs_travelled = 0;
  vms_.at(id.vm).epochs_rested = 0;
  if (exchanges_homes(reason)) {
    client->epochs_since_swap = 0;
  }
  if (reason != Reason::kInitialPlacement) {
    vms_.at(id.vm).suggested.clear();  // it has moved since
  }
}

void Ledger::count_move(const ClientId& id, Reason reason) {
  if (ClientRecord* client = find_client(vms_, id); client != nullptr) {
    count(client->counts, reason);
  }
}

void Ledger::restore_home(const ClientId& id, NodeId node) {
  ClientRecord* client = find_client(vms_, id);
  if (client != nullptr && topology_.index_of(node) && client->home != node) {
    client->home = node;
    client->came_from = client->came_from_before;
    client->epochs_here = 0;
    end_spill(*client);
  }
}

void Ledger::adopt_home(const ClientId& id, NodeId node) {
  ClientRecord* client = find_client(vms_, id);
  if (client != nullptr && topology_.index_of(node) && client->home != node) {
    client->home = node;
    client->came_from = NodeId{};
    client->epochs_here = 0;
    end_spill(*client);
  }
}

void Ledger::forget_home(const ClientId& id) {
  if (ClientRecord* client = find_client(vms_, id); client != nullptr) {
    client->home = NodeId{};
    end_spill(*client);
  }
}

void Ledger::set_spill(const ClientId& id, NodeId node) {
  ClientRecord* client = find_client(vms_, id);
  if (client != nullptr && client->spills_to != node) {
    end_spill(*client);
    client->spills_to = client->home.value >= 0 && topology_.index_of(node) ? node : NodeId{};
  }
}

std::set<VmId> Ledger::spilling() const {
  std::set<VmId> spilling;
  for (const auto& [id, vm] : vms_) {
    if (std::ranges::any_of(
            vm.clients, [](const ClientRecord& client) { return client.spills_to.value >= 0; })) {
      spilling.insert(id);
    }
  }
  return spilling;
}

void Ledger::record_spills(const std::vector<Spill>& spills, CpuTime epoch) {
  for (const Spill& spill : spills) {
    if (ClientRecord* client = find_client(vms_, spill.client);
        client != nullptr && client->spills_to.value >= 0) {
      client->spill_saves = per_second(spill.saves, epoch);
    }
  }
}

void Ledger::set_suggested(const VmId& vm, std::vector<NodeId> nodes) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.suggested = std::move(nodes);
  }
}

void Ledger::set_moving(const VmId& vm, bool moving) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    for (ClientRecord& client : found->second.clients) {
      client.moving = moving;
    }
  }
}

void Ledger::set_exclusive_cores(const ClientId& id, std::int32_t cores) {
  if (ClientRecord* client = find_client(vms_, id); client != nullptr) {
    client->exclusive_cores = cores;
  }
}

void Ledger::transfer_began(const VmId& vm) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.transferring = true;
  }
}

void Ledger::transfer_ended(const VmId& vm, Bytes moved, Bytes left_behind) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.transferring = false;
    found->second.left_behind = left_behind;
    found->second.epochs_since_transfer = 0;
    found->second.pull_again_after =
        pull_again_after(found->second.pull_again_after, moved, left_behind);
  }
}

Permille Ledger::start_load(const VmId& vm) const {
  const auto forecast = forecasts_.find(vm);
  return forecast != forecasts_.end() && forecasts_hold()
             ? with_margin(forecast->second.p95, options_)
             : Permille{options_.cold_start_pct * 10};
}

void Ledger::set_forecasts(LoadForecasts forecasts) {
  forecasts_ = std::move(forecasts);
  forecasts_end_ = (last_sample_ ? last_sample_->taken_at : Microseconds{}) + kForecastsHoldFor;
}

bool Ledger::forecasts_hold() const {
  return options_.forecast_weight > 0 &&
         (!last_sample_ || last_sample_->taken_at <= forecasts_end_);
}

std::array<std::int64_t, kPredictorKinds> Ledger::forecasts_by() const {
  std::array<std::int64_t, kPredictorKinds> counts{};
  for (const auto& [id, vm] : vms_) {
    const auto forecast = forecasts_.find(id);
    if (forecast != forecasts_.end() && forecasts_hold()) {
      ++counts.at(static_cast<std::size_t>(forecast->second.by));
    }
  }
  return counts;
}

void Ledger::set_expected_load(const VmId& vm, Permille per_vcpu) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.expected = per_vcpu;
  }
}

const VmRecord* Ledger::find(const VmId& vm) const {
  const auto found = vms_.find(vm);
  return found == vms_.end() ? nullptr : &found->second;
}

namespace {

/// Returns true for a client that already had its home when the daemon started and first saw it:
/// how long it has lived there is unknown.
bool lived_here_before(const VmRecord& vm, const ClientRecord& client) {
  return vm.found_running && client.came_from.value < 0 && client.home.value >= 0 &&
         client.epochs_here > client.age_epochs;
}

/// Returns true if a client has moved, and not only been placed.
bool has_moved(const VmRecord& vm) {
  return std::ranges::any_of(
      vm.clients, [](const ClientRecord& client) { return client.came_from.value >= 0; });
}

}  // namespace

/// An administrator may change a pool at any time (nr_hugepages).
void Ledger::take_huge_pages(const Sample& sample) {
  for (const NodeSample& reading : sample.nodes) {
    if (const std::optional<NodeIndex> node = topology_.index_of(reading.id);
        node && reading.huge_pages) {
      topology_.nodes[*node].huge_pages = *reading.huge_pages;
    }
  }
}

Snapshot Ledger::advance(const Sample& sample) {
  ++epochs_;
  take_huge_pages(sample);
  if (last_sample_ && sample.taken_at - last_sample_->taken_at > kLongestEpoch) {
    last_sample_.reset();
  }
  Snapshot snapshot;
  snapshot.epoch = epochs_;
  snapshot.topology = topology_;
  snapshot.epoch_length = CpuTime{options_.rebalance_period * 1000};
  if (last_sample_ && sample.taken_at > last_sample_->taken_at) {
    snapshot.epoch_length = CpuTime{(sample.taken_at - last_sample_->taken_at).value};
  }
  const EpochReading reading{topology_,
                             options_,
                             reserved_,
                             last_sample_ ? &*last_sample_ : nullptr,
                             sample,
                             local_read_ns_,
                             forecasts_hold() ? &forecasts_ : nullptr};
  for (auto& [id, vm] : vms_) {
    ++vm.epochs_since_transfer;
    vm.epochs_travelled += vm.transferring && has_moved(vm) ? 1 : 0;
    vm.epochs_rested += vm.transferring ? 0 : 1;
    for (ClientRecord& client : vm.clients) {
      ++client.epochs_here;
      ++client.epochs_since_swap;
      if (client.epochs_here == kFirstWholeEpoch && lived_here_before(vm, client)) {
        client.epochs_here = std::max(kFirstWholeEpoch, options_.residency);
      }
    }
    measure_vm(vm, reading, snapshot);
  }
  measure_nodes(vms_, reading, node_averages_, snapshot);
  share_out(snapshot, options_);
  average_shortages(options_, node_averages_, snapshot);
  measure_chats(sample, snapshot);
  remember(sample, snapshot);
  return snapshot;
}

void Ledger::measure_chats(const Sample& sample, Snapshot& snapshot) {
  wakeups_.advance(last_sample_ ? &*last_sample_ : nullptr, sample,
                   CpuTime{options_.load_half_life * kMicrosecondsPerSecond});
  snapshot.chats = wakeups_.chats();
  std::erase_if(snapshot.chats, [this](const Chat& chat) {
    return !vms_.contains(chat.a) || !vms_.contains(chat.b);
  });
}

void Ledger::remember(const Sample& sample, const Snapshot& snapshot) {
  // This epoch is included; the next snapshot holds its own separately.
  const auto most =
      static_cast<std::size_t>(std::max<std::int64_t>(options_.lterm_fairness_interval - 1, 0));
  for (const ClientState& client : snapshot.clients) {
    VmRecord& vm = vms_.at(client.id.vm);
    ClientRecord& record = vm.clients[static_cast<std::size_t>(client.id.index)];
    record.owed =
        averaged(record.owed, per_second(client.owed, snapshot.epoch_length), snapshot.epoch_length,
                 fairness_half_life(options_, snapshot.epoch_length));
    record.owed_before.insert(record.owed_before.begin(), client.owed);
    record.owed_before.resize(std::min(record.owed_before.size(), most));
    ++record.age_epochs;
    if (client.home != kNoNode && client.memory_known) {
      record.local_mib_epochs += client.local_memory().value >> 20U;
      record.all_mib_epochs += sum_of(client.memory).value >> 20U;
    }
  }
  last_sample_ = sample;
}

}  // namespace vmnuma::balancer
