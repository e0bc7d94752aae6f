// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/ledger.h"

#include <algorithm>

#include "balancer/core/averages.h"
#include "balancer/core/entitlement.h"
#include "balancer/core/guards.h"
#include "balancer/core/memory_attribution.h"
#include "balancer/core/node_usage.h"
#include "placement/memory_cost.h"

namespace vmnuma::balancer {

using placement::Bytes;
using placement::ClientId;
using placement::ClientIndex;
using placement::ClientState;
using placement::CpuId;
using placement::CpuTime;
using placement::kMicrosecondsPerSecond;
using placement::kNoNode;
using placement::Microseconds;
using placement::NodeId;
using placement::NodeIndex;
using placement::NodeState;
using placement::Permille;
using placement::Reason;
using placement::Sample;
using placement::Snapshot;
using placement::VmDescription;
using placement::VmId;
using placement::VmSample;
using placement::VmState;

namespace {

/// How long a VM just placed counts with more than is measured.
constexpr CpuTime kPendingFor{60 * kMicrosecondsPerSecond};
constexpr Microseconds kForecastsHoldFor{placement::kForecastMinutes * 60 * kMicrosecondsPerSecond};
constexpr std::int64_t kThousandth = 1000;
/// Pages that a transfer left behind are tried again after so many epochs, three times as many each
/// time.
constexpr std::int64_t kFirstPullAgain = 6;
constexpr std::int64_t kLastPullAgain = 300;
/// In this epoch a client has been at home from beginning to end.
constexpr std::int64_t kFirstWholeEpoch = 2;
/// A transfer that left more than this many times what it moved has moved next to nothing.
constexpr std::int64_t kLeftPerMoved = 20;

/// Epochs until what a transfer left is tried again, if it was itself such a try after `last`.
std::int64_t pull_again_after(std::int64_t last, Bytes moved, Bytes left_behind) {
  const bool in_vain = left_behind > moved * kLeftPerMoved;
  if (last >= kLastPullAgain) {
    return in_vain ? placement::kNotAgain : kLastPullAgain;
  }
  return std::clamp(last * 3, kFirstPullAgain, kLastPullAgain);
}

std::optional<NodeIndex> node_of(const placement::Topology& topology, NodeId id) {
  return id.value < 0 ? std::nullopt : topology.index_of(id);
}

/// As Numa.ForecastMargin asks.
Permille with_margin(Permille p95, const placement::Options& options) {
  return std::min(Permille{1000}, p95 * (100 + options.forecast_margin) / 100);
}

CpuTime per_second(CpuTime amount, CpuTime epoch) {
  return scaled(amount, kMicrosecondsPerSecond, epoch.value);
}

CpuTime in_epoch(CpuTime rate, CpuTime epoch) {
  return scaled(rate, epoch.value, kMicrosecondsPerSecond);
}

std::string first_missing_for(const Sample& sample, const VmId& vm) {
  for (const placement::MissingSource& missing : sample.missing) {
    if (missing.vm == vm) {
      return missing.source + ": " + missing.reason;
    }
  }
  return {};
}

/// The nodes that all these vCPUs are pinned to: of the CPUs that VMs may use, their pins name some
/// of these and no others. None if one is not pinned.
std::vector<NodeId> pinned_nodes(const std::vector<std::int32_t>& vcpus,
                                 const std::vector<placement::Pin>& pins,
                                 const placement::Topology& topology) {
  std::vector<CpuId> cpus;
  for (const std::int32_t vcpu : vcpus) {
    const auto pin = std::find_if(pins.begin(), pins.end(), [vcpu](const placement::Pin& entry) {
      return entry.number == vcpu;
    });
    if (pin == pins.end() || pin->cpus.empty()) {
      return {};
    }
    cpus.insert(cpus.end(), pin->cpus.begin(), pin->cpus.end());
  }
  std::vector<NodeId> nodes;
  for (const placement::Node& node : topology.nodes) {
    const bool has_one = std::any_of(cpus.begin(), cpus.end(), [&node](CpuId cpu) {
      return std::binary_search(
          node.cpus.begin(), node.cpus.end(), placement::Cpu{cpu, 0, 0},
          [](const placement::Cpu& a, const placement::Cpu& b) { return a.id < b.id; });
    });
    if (has_one) {
      nodes.push_back(node.id);
    }
  }
  return nodes;
}

}  // namespace

Ledger::Ledger(placement::Topology topology, placement::Options options)
    : topology_(std::move(topology)), options_(options) {}

void Ledger::set_options(const placement::Options& options) {
  options_ = options;
  for (auto& [id, vm] : vms_) {
    fit_to_host(vm);  // clients may be sized by threads now
  }
}

void Ledger::set_topology(placement::Topology topology) {
  const bool same_nodes = topology.nodes == topology_.nodes;
  topology_ = std::move(topology);
  if (same_nodes) {
    return;  // only how far they are from each other is another
  }
  lasting_non_vm_.clear();
  newest_non_vm_.clear();
  short_lately_.clear();
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

/// Splits the VM anew; clients keep their number, home and history as far as there are as many.
void Ledger::fit_to_host(VmRecord& vm) const {
  vm.allowed = allowed_homes(topology_, vm.description);
  std::vector<placement::ClientShape> shapes =
      split_into_clients(vm.description, topology_, options_.prefer_ht != 0);
  vm.clients.resize(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ClientRecord& client = vm.clients[i];
    client.shape = std::move(shapes[i]);
    const std::vector<NodeId> pinned =
        pinned_nodes(client.shape.vcpus, vm.description.vcpu_pins, topology_);
    client.pinned_to = pinned.size() == 1 ? pinned.front() : NodeId{};
    client.pinned_to_two = pinned.size() == 2 ? pinned : std::vector<NodeId>{};
    const std::optional<NodeIndex> home = node_of(topology_, client.home);
    if (!home || !std::binary_search(vm.allowed.begin(), vm.allowed.end(), *home)) {
      client.home = NodeId{};
    }
    const std::optional<NodeIndex> second = node_of(topology_, client.spills_to);
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
  if (client == nullptr || !node_of(topology_, node) || client->home == node) {
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
    vms_.at(id.vm).suggested.clear();  // it has moved on since
  }
}

void Ledger::count_move(const ClientId& id, Reason reason) {
  if (ClientRecord* client = find_client(vms_, id); client != nullptr) {
    count(client->counts, reason);
  }
}

void Ledger::take_home_back(const ClientId& id, NodeId node) {
  ClientRecord* client = find_client(vms_, id);
  if (client != nullptr && node_of(topology_, node) && client->home != node) {
    client->home = node;
    client->came_from = client->came_from_before;
    client->epochs_here = 0;
    end_spill(*client);
  }
}

void Ledger::adopt_home(const ClientId& id, NodeId node) {
  ClientRecord* client = find_client(vms_, id);
  if (client != nullptr && node_of(topology_, node) && client->home != node) {
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
    client->spills_to = client->home.value >= 0 && node_of(topology_, node) ? node : NodeId{};
  }
}

void Ledger::note_spills(const std::vector<placement::Spill>& spills, CpuTime epoch) {
  for (const placement::Spill& spill : spills) {
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
  return forecast != forecasts_.end() && options_.forecast_weight > 0
             ? with_margin(forecast->second.p95, options_)
             : Permille{options_.cold_start_pct * 10};
}

void Ledger::set_forecasts(placement::LoadForecasts forecasts) {
  forecasts_ = std::move(forecasts);
  forecasts_end_ = (last_sample_ ? last_sample_->taken_at : Microseconds{}) + kForecastsHoldFor;
}

bool Ledger::forecasts_hold() const {
  return options_.forecast_weight > 0 &&
         (!last_sample_ || last_sample_->taken_at <= forecasts_end_);
}

std::array<std::int64_t, placement::kPredictorKinds> Ledger::forecasts_by() const {
  std::array<std::int64_t, placement::kPredictorKinds> counts{};
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

/// Where it may have run in the last epoch, empty for anywhere: its pins say that only if they were
/// in force all epoch. A second node comes and goes within one, beside the home.
std::vector<NodeIndex> Ledger::ran_on(const ClientRecord& client) const {
  const std::optional<NodeIndex> home = node_of(topology_, client.home);
  if (!home || client.epochs_here <= 1) {
    return {};
  }
  if (client.pinned_to == client.home) {
    return {*home};
  }
  std::vector<NodeIndex> nodes;
  for (const NodeId id : client.pinned_to_two) {
    if (const std::optional<NodeIndex> node = node_of(topology_, id)) {
      nodes.push_back(*node);
    }
  }
  const bool is_beside_home = std::find(nodes.begin(), nodes.end(), *home) != nodes.end();
  return is_beside_home ? nodes : std::vector<NodeIndex>{};
}

namespace {

/// True of a client that had its home already when the daemon started and first saw it: it has
/// lived there for nobody knows how long.
bool lived_here_before(const VmRecord& vm, const ClientRecord& client) {
  return vm.found_running && client.came_from.value < 0 && client.home.value >= 0 &&
         client.epochs_here > client.age_epochs;
}

/// Not only been placed.
bool has_moved(const VmRecord& vm) {
  return std::any_of(vm.clients.begin(), vm.clients.end(),
                     [](const ClientRecord& client) { return client.came_from.value >= 0; });
}

}  // namespace

/// An administrator may change a pool at any time (nr_hugepages).
void Ledger::take_huge_pages(const Sample& sample) {
  for (const placement::NodeSample& reading : sample.nodes) {
    if (const std::optional<NodeIndex> node = node_of(topology_, reading.id);
        node && reading.huge_pages) {
      topology_.nodes[*node].huge_pages = *reading.huge_pages;
    }
  }
}

Snapshot Ledger::advance(const Sample& sample) {
  ++epochs_;
  take_huge_pages(sample);
  Snapshot snapshot;
  snapshot.epoch = epochs_;
  snapshot.topology = topology_;
  snapshot.epoch_length = CpuTime{options_.rebalance_period * 1000};
  if (last_sample_ && sample.taken_at > last_sample_->taken_at) {
    snapshot.epoch_length = CpuTime{(sample.taken_at - last_sample_->taken_at).value};
  }
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
    measure_vm(vm, sample, snapshot);
  }
  measure_nodes(sample, snapshot);
  share_out(snapshot, options_);
  average_shortages(snapshot);
  measure_chats(sample, snapshot);
  remember(sample, snapshot);
  return snapshot;
}

namespace {

/// What lies away from its client's home, of all clients of a VM.
Bytes remote_memory(const Snapshot& snapshot, const VmState& vm) {
  Bytes remote;
  for (ClientIndex i = vm.first_client; i < vm.first_client + vm.client_count; ++i) {
    const ClientState& client = snapshot.clients[i];
    for (NodeIndex node = 0; node < client.memory.size(); ++node) {
      if (node != client.home) {
        remote += client.memory[node];
      }
    }
  }
  return remote;
}

/// Guests on pages of hugetlbfs have nothing else; no cgroup counts these.
std::optional<placement::Permille> on_huge_pages(const VmRecord& vm) {
  if (vm.description.huge_page_size > Bytes{}) {
    return placement::Permille{1000};
  }
  const std::optional<placement::MemoryState>& memory = vm.last->memory_state;
  if (!memory || !memory->huge || memory->anonymous + memory->shared <= Bytes{}) {
    return std::nullopt;
  }
  const placement::Permille share = placement::permille_of(
      memory->huge->value, (memory->anonymous + memory->shared).value, placement::Permille{});
  return std::min(share, placement::Permille{1000});
}

placement::VmFigures figures_of(const VmRecord& vm) {
  placement::VmFigures figures;
  if (vm.last) {
    figures.cpu_some = vm.last->cpu_waits;
    if (vm.last->memory_state) {
      figures.memory_some = vm.last->memory_state->waits_some;
      figures.memory_full = vm.last->memory_state->waits_full;
    }
    figures.huge_pages = on_huge_pages(vm);
  }
  return figures;
}

void make_stale(VmState& vm, std::string why) {
  if (vm.fresh) {
    vm.fresh = false;
    vm.stale_because = std::move(why);
  }
}

}  // namespace

void Ledger::measure_vm(VmRecord& vm, const Sample& sample, Snapshot& snapshot) const {
  VmState state;
  state.id = vm.description.id;
  state.name = vm.description.name;
  state.guest_os = vm.description.guest_os;
  state.policy = vm.description.policy;
  state.memory_stays_because = why_memory_stays(vm.description).value_or("");
  state.huge_page_size = vm.description.huge_page_size;
  state.device_nodes = device_nodes(topology_, vm.description);
  state.wished_nodes = wished_nodes(topology_, vm.description);
  for (const NodeId node : vm.suggested) {
    if (const std::optional<NodeIndex> index = node_of(topology_, node)) {
      state.suggested.push_back(*index);
    }
  }
  state.transferring = vm.transferring;
  state.epochs_since_transfer = vm.epochs_since_transfer;
  state.epochs_travelled = vm.epochs_travelled;
  state.epochs_rested = vm.epochs_rested;
  state.pull_again_after = vm.pull_again_after;
  state.first_client = snapshot.clients.size();
  state.client_count = vm.clients.size();
  const std::optional<VmUsage> usage = read(vm, sample, state);
  state.weight = vm.weight;
  if (local_read_ns_) {
    state.counted_stall = vm.counted_stall.at(sample.taken_at);
  }
  state.stall = stall_of(state.policy, state.counted_stall, options_);
  state.cpu_measured = usage.has_value();
  state.figures = figures_of(vm);
  state.figures.memory_stall = state.counted_stall;
  vm.measured = vm.measured || usage.has_value();
  state.measured = vm.measured;
  state.shares_memory = vm.description.cells.size() < 2;
  if (!state.measured && vm.found_running) {
    make_stale(state, "it was found running and needs a second reading");
  }
  snapshot.vms.push_back(std::move(state));

  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    add_client(vm, index, usage ? &*usage : nullptr, snapshot);
  }
  if (usage) {
    limit_to_quota(vm, snapshot);
    add_beside(vm, snapshot);
  }
  VmState& added = snapshot.vms.back();
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    const ClientState& client = snapshot.clients[added.first_client + index];
    added.demand += client.demand;
    if (usage) {
      const CpuTime epoch = snapshot.epoch_length;
      vm.clients[index].held = {per_second(client.used, epoch), per_second(client.ready, epoch),
                                per_second(client.demand, epoch)};
    }
  }
  average_load(vm, usage.has_value(), snapshot);
  look_ahead(vm, snapshot);
  attribute_memory(vm, snapshot);
  if (vm.epochs_since_transfer == placement::kEpochsUntilCounted) {
    vm.left_behind = remote_memory(snapshot, added);
  } else if (vm.epochs_since_transfer > placement::kEpochsUntilCounted && added.fresh) {
    vm.left_behind = std::min(vm.left_behind, remote_memory(snapshot, added));
  }
  added.left_behind = vm.left_behind;
}

namespace {

bool has_same_threads(const VmSample& a, const VmSample& b) {
  return std::equal(a.vcpus.begin(), a.vcpus.end(), b.vcpus.begin(), b.vcpus.end(),
                    [](const placement::VcpuSample& one, const placement::VcpuSample& other) {
                      return one.tid == other.tid;
                    });
}

}  // namespace

/// What the VM used in this epoch, or nothing if that cannot be told; `state` says why.
std::optional<VmUsage> Ledger::read(VmRecord& vm, const Sample& sample, VmState& state) const {
  const VmId& id = vm.description.id;
  const auto found =
      std::lower_bound(sample.vms.begin(), sample.vms.end(), id,
                       [](const VmSample& entry, const VmId& key) { return entry.id < key; });
  if (found == sample.vms.end() || found->id != id) {
    const std::string why = first_missing_for(sample, id);
    make_stale(state, why.empty() ? "it was not read in this epoch" : why);
    return std::nullopt;
  }
  const VmSample& now = *found;
  vm.weight = now.weight;
  if (vm.last && vm.last->process != now.process) {
    vm.last.reset();
    vm.memory.reset();
    vm.cell_memory.clear();
    vm.counted_stall = {};
    vm.beside.reset();
    vm.measured = false;
    make_stale(state, "its process is a new one");
  }
  if (now.memory) {
    vm.memory = now.memory;
    vm.cell_memory = now.cell_memory;
  }
  if (now.memory_reads && local_read_ns_) {
    vm.counted_stall.take_in(*now.memory_reads, *local_read_ns_, sample.taken_at);
  }
  std::optional<VmUsage> usage;
  if (vm.last && vm.read_at != last_sample_->taken_at) {
    make_stale(state, "it was not read in the epoch before");
  } else if (vm.last) {
    std::vector<std::vector<std::int32_t>> groups;
    groups.reserve(vm.clients.size());
    for (const ClientRecord& client : vm.clients) {
      groups.push_back(client.shape.vcpus);
    }
    usage = usage_between(*vm.last, now, groups);
    if (!usage->unusable_because.empty()) {
      make_stale(state, usage->unusable_because);
      usage.reset();
    }
  }
  if (vm.last && !has_same_threads(*vm.last, now)) {
    vm.beside.reset();  // what a vCPU that has gone had run would be taken for it
  }
  if (now.beside_us) {
    read_beside(vm, *now.beside_us, sample.taken_at);
  }
  vm.last = now;
  vm.read_at = sample.taken_at;
  return usage;
}

/// Adds the client with what it used, or else with what it is held to.
void Ledger::add_client(const VmRecord& vm, std::size_t index, const VmUsage* usage,
                        Snapshot& snapshot) const {
  const ClientRecord& record = vm.clients[index];
  ClientState client;
  client.id = {vm.description.id, static_cast<std::int32_t>(index)};
  client.vm = snapshot.vms.size() - 1;
  client.vcpus = record.shape.vcpus;
  client.home = node_of(topology_, record.home).value_or(kNoNode);
  client.memory_size = record.shape.memory;
  client.allowed = vm.allowed;
  client.epochs_here = record.epochs_here;
  client.came_from = node_of(topology_, record.came_from).value_or(kNoNode);
  client.epochs_since_swap = record.epochs_since_swap;
  client.moving = record.moving;
  client.exclusive_cores = record.exclusive_cores;
  client.spills_to = node_of(topology_, record.spills_to).value_or(kNoNode);
  client.spill_saves = in_epoch(record.spill_saves, snapshot.epoch_length);
  client.owed_before = record.owed_before;
  client.owed_on_average = in_epoch(record.owed, snapshot.epoch_length);
  client.weight = static_cast<std::int64_t>(vm.weight) * kThousandth * client.vcpu_count() /
                  static_cast<std::int64_t>(vm.description.vcpus.size());

  const CpuTime most = snapshot.epoch_length * client.vcpu_count();
  if (usage != nullptr) {
    client.used = usage->groups[index].run;
    client.ready = usage->groups[index].wait;
    // Waiting for the VM's own quota is nobody's debt.
    CpuTime ready_of_all;
    for (const CpuUse& group : usage->groups) {
      ready_of_all += group.wait;
    }
    const CpuTime own_wait = scaled(usage->throttled, client.ready.value, ready_of_all.value);
    client.demand = client.used + std::max(client.ready - own_wait, CpuTime{});
  } else if (vm.measured) {
    client.used = in_epoch(record.held.used, snapshot.epoch_length);
    client.ready = in_epoch(record.held.ready, snapshot.epoch_length);
    client.demand = in_epoch(record.held.demand, snapshot.epoch_length);
  }
  client.demand = std::min(client.demand, most);
  snapshot.clients.push_back(std::move(client));
}

/// Nobody wants more than its quota allows.
void Ledger::limit_to_quota(const VmRecord& vm, Snapshot& snapshot) const {
  if (!vm.last->quota_permille) {
    return;
  }
  const ClientIndex first = snapshot.vms.back().first_client;
  const CpuTime quota{snapshot.epoch_length.value * *vm.last->quota_permille / 1000};
  CpuTime wanted;
  for (ClientIndex i = first; i < snapshot.clients.size(); ++i) {
    wanted += snapshot.clients[i].demand;
  }
  for (ClientIndex i = first; i < snapshot.clients.size() && wanted > quota; ++i) {
    snapshot.clients[i].demand = scaled(snapshot.clients[i].demand, quota.value, wanted.value);
  }
}

/// As with what others use, only as much counts as lasts and is there now.
void Ledger::read_beside(VmRecord& vm, std::int64_t beside_us, Microseconds at) const {
  BesideUse now{beside_us, at, {}, {}};
  if (vm.beside && at > vm.beside->read_at) {
    const CpuTime passed{(at - vm.beside->read_at).value};
    const CpuTime rate =
        per_second(std::max(CpuTime{beside_us - vm.beside->us}, CpuTime{}), passed);
    now.averaged = averaged(vm.beside->averaged, rate, passed, recently());
    now.lasting = std::min(now.averaged, rate);
  }
  vm.beside = now;
}

/// The client's part of what its VM's other threads use.
CpuTime Ledger::beside(const VmRecord& vm, const ClientState& client, CpuTime epoch) {
  return vm.beside ? in_epoch(vm.beside->lasting, epoch) * client.vcpu_count() /
                         static_cast<std::int64_t>(vm.description.vcpus.size())
                   : CpuTime{};
}

/// These threads go wherever the clients go, so what they use counts as used by these.
void Ledger::add_beside(const VmRecord& vm, Snapshot& snapshot) {
  for (ClientIndex i = snapshot.vms.back().first_client; i < snapshot.clients.size(); ++i) {
    ClientState& client = snapshot.clients[i];
    const CpuTime its = beside(vm, client, snapshot.epoch_length);
    client.used += its;
    client.demand += its;
  }
}

/// What its clients will want, if that is known and what is measured does not belie it.
void Ledger::look_ahead(const VmRecord& vm, Snapshot& snapshot) const {
  const auto forecast = forecasts_.find(vm.description.id);
  if (forecast == forecasts_.end() || !forecasts_hold()) {
    return;
  }
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    ClientState& client = snapshot.clients[snapshot.clients.size() - vm.clients.size() + index];
    const CpuTime full = snapshot.epoch_length * client.vcpu_count();
    const CpuTime p95 = full * with_margin(forecast->second.p95, options_).value / 1000;
    // Forecasts are of vCPUs, which never want more than all of their time.
    if (client.load - beside(vm, client, snapshot.epoch_length) <= p95) {
      client.ahead = {full * forecast->second.mean.value / 1000, p95};
    }
  }
}

/// The clients' load averages, with pending load while the VM is new.
void Ledger::average_load(VmRecord& vm, bool measured_now, Snapshot& snapshot) const {
  const CpuTime epoch = snapshot.epoch_length;
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    ClientRecord& record = vm.clients[index];
    ClientState& client = snapshot.clients[snapshot.vms.back().first_client + index];
    const std::int64_t expected_permille =
        vm.expected ? vm.expected->value : options_.cold_start_pct * 10;
    const CpuTime expected{kMicrosecondsPerSecond * client.vcpu_count() * expected_permille /
                           1000};  // a second
    if (measured_now) {
      const CpuTime now = per_second(client.demand, epoch);
      record.average = record.has_average
                           ? averaged(record.average, now, epoch,
                                      CpuTime{options_.load_half_life * kMicrosecondsPerSecond})
                           : now;
      record.recent = record.has_average ? averaged(record.recent, now, epoch, recently()) : now;
      record.has_average = true;
    } else if (!record.has_average && !vm.found_running) {
      record.average = expected;
    }
    CpuTime load = record.average;
    const CpuTime age = epoch * record.age_epochs;
    if (!vm.found_running && age < kPendingFor && expected > record.average) {
      load += scaled(expected - record.average, (kPendingFor - age).value, kPendingFor.value);
    }
    client.load = in_epoch(load, epoch);
    client.recent = in_epoch(record.recent, epoch);
  }
}

/// Per node what is known to be these cells'; empty if nothing is.
std::vector<Bytes> Ledger::memory_of_cells(const VmRecord& vm,
                                           const std::vector<std::int32_t>& cells) const {
  const std::vector<placement::GuestCell>& all = vm.description.cells;
  if (vm.cell_memory.size() != all.size() || cells.empty()) {
    return {};
  }
  std::vector<Bytes> sum(topology_.nodes.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_one = std::find(cells.begin(), cells.end(), all[i].id) != cells.end();
    if (is_one && vm.cell_memory[i].size() == sum.size()) {
      for (NodeIndex node = 0; node < sum.size(); ++node) {
        sum[node] += vm.cell_memory[i][node];
      }
    }
  }
  return sum;
}

void Ledger::attribute_memory(const VmRecord& vm, Snapshot& snapshot) const {
  if (!vm.memory || vm.memory->size() != topology_.nodes.size()) {
    return;
  }
  const ClientIndex first = snapshot.vms.back().first_client;
  std::vector<MemoryOwner> owners;
  for (ClientIndex i = first; i < snapshot.clients.size(); ++i) {
    owners.push_back({snapshot.clients[i].home, snapshot.clients[i].memory_size,
                      memory_of_cells(vm, vm.clients[i - first].shape.cells)});
  }
  std::vector<std::vector<Bytes>> parts = balancer::attribute_memory(*vm.memory, owners);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    snapshot.clients[first + i].memory = std::move(parts[i]);
    snapshot.clients[first + i].memory_known = true;
  }
}

void Ledger::measure_nodes(const Sample& sample, Snapshot& snapshot) {
  const CpuTime epoch = snapshot.epoch_length;
  const std::size_t count = topology_.nodes.size();
  const std::vector<NodeBusy> busy =
      busy_between(topology_, last_sample_ ? &*last_sample_ : nullptr, sample, epoch);
  std::vector<CpuTime> bound(count);
  std::vector<ClientUse> unbound;
  for (const ClientState& client : snapshot.clients) {
    const VmRecord& vm = vms_.at(client.id.vm);
    std::vector<NodeIndex> nodes = ran_on(vm.clients[static_cast<std::size_t>(client.id.index)]);
    if (nodes.size() == 1) {
      bound[nodes.front()] += client.used;
    } else {
      unbound.push_back({std::move(nodes), client.used});
    }
  }
  std::vector<CpuTime> before;
  for (const CpuTime rate : newest_non_vm_) {
    before.push_back(in_epoch(rate, epoch));
  }
  std::vector<CpuTime> non_vm = non_vm_time(busy, bound, unbound, before);
  std::vector<CpuTime> set_aside(count);
  for (const ClientState& client : snapshot.clients) {
    if (client.home != kNoNode && client.exclusive_cores > 0) {
      set_aside[client.home] += std::max(epoch * client.exclusive_cores - client.used, CpuTime{});
    }
  }
  lasting_non_vm_.resize(count);
  newest_non_vm_.resize(count);

  snapshot.nodes.assign(count, NodeState{});
  for (NodeIndex node = 0; node < count; ++node) {
    NodeState& state = snapshot.nodes[node];
    state.physical = epoch * topology_.nodes[node].core_count();
    state.threads = epoch * topology_.nodes[node].cpu_count();
    const auto found = std::lower_bound(
        sample.nodes.begin(), sample.nodes.end(), topology_.nodes[node].id,
        [](const placement::NodeSample& entry, NodeId key) { return entry.id < key; });
    const bool has_memory_reading =
        found != sample.nodes.end() && found->id == topology_.nodes[node].id;
    if (has_memory_reading) {
      state.free = found->free;
      state.total = found->total;
      state.reserved = std::min(reserved_of(found->id, Bytes{}, reserved_), found->total);
      state.reserve = std::max(found->total * options_.node_reserve_pct / 100, state.reserved);
    }
    state.known = has_memory_reading && busy[node].known;
    state.memory_read = has_memory_reading;
    state.cpu_measured = last_sample_.has_value() && busy[node].known;
    if (!busy[node].known) {
      non_vm[node] = in_epoch(lasting_non_vm_[node], epoch);  // held
    }
    newest_non_vm_[node] = per_second(non_vm[node], epoch);
    // The daemon's own copying counts for nothing: it ends, and wherever CPUs are idle the kernel
    // has it run on these. Nor is a burst of others anything to plan for: what counts is what
    // lasts, and is there now.
    const CpuTime copying = busy[node].known ? busy[node].copying : CpuTime{};
    const CpuTime others = std::max(non_vm[node] - copying, CpuTime{});
    state.non_vm_now = std::min(others, state.threads);
    lasting_non_vm_[node] =
        averaged(lasting_non_vm_[node], per_second(others, epoch), epoch, recently());
    state.non_vm = std::min({others, in_epoch(lasting_non_vm_[node], epoch), state.threads});
    state.set_aside = std::min(set_aside[node], state.threads - state.non_vm);
  }
}

void Ledger::average_shortages(Snapshot& snapshot) {
  const CpuTime epoch = snapshot.epoch_length;
  short_lately_.resize(snapshot.nodes.size());
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    NodeState& state = snapshot.nodes[node];
    const CpuTime now = std::max(state.demand - state.capacity, CpuTime{});
    short_lately_[node] = averaged(short_lately_[node], per_second(now, epoch), epoch, recently());
    state.short_lately = in_epoch(short_lately_[node], epoch);
  }
}

void Ledger::measure_chats(const Sample& sample, Snapshot& snapshot) {
  wakeups_.advance(last_sample_ ? &*last_sample_ : nullptr, sample,
                   CpuTime{options_.load_half_life * kMicrosecondsPerSecond});
  snapshot.chats = wakeups_.chats();
  std::erase_if(snapshot.chats, [this](const placement::Chat& chat) {
    return !vms_.contains(chat.a) || !vms_.contains(chat.b);
  });
}

void Ledger::remember(const Sample& sample, const Snapshot& snapshot) {
  // With this epoch's, which the next snapshot tells apart.
  const auto most =
      static_cast<std::size_t>(std::max<std::int64_t>(options_.lterm_fairness_interval - 1, 0));
  for (const ClientState& client : snapshot.clients) {
    VmRecord& vm = vms_.at(client.id.vm);
    ClientRecord& record = vm.clients[static_cast<std::size_t>(client.id.index)];
    record.owed =
        averaged(record.owed, per_second(client.owed, snapshot.epoch_length), snapshot.epoch_length,
                 snapshot.epoch_length * (kFairnessMemory * options_.lterm_fairness_interval));
    record.owed_before.insert(record.owed_before.begin(), client.owed);
    record.owed_before.resize(std::min(record.owed_before.size(), most));
    ++record.age_epochs;
    if (client.home != kNoNode && client.memory_known) {
      Bytes all;
      for (const Bytes bytes : client.memory) {
        all += bytes;
      }
      record.local_mib_epochs += client.memory[client.home].value >> 20U;
      record.all_mib_epochs += all.value >> 20U;
    }
  }
  last_sample_ = sample;
}

}  // namespace vmnuma::balancer
