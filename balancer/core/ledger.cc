// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/ledger.h"

#include <algorithm>

#include "balancer/core/memory_attribution.h"
#include "placement/capacity.h"
#include "placement/fair_share.h"

namespace vmnuma::balancer {

using placement::Bytes;
using placement::ClientId;
using placement::ClientIndex;
using placement::ClientState;
using placement::CpuId;
using placement::CpuTime;
using placement::kNoNode;
using placement::NodeId;
using placement::NodeIndex;
using placement::NodeState;
using placement::Permille;
using placement::Reason;
using placement::Sample;
using placement::Snapshot;
using placement::Supply;
using placement::VmDescription;
using placement::VmId;
using placement::VmSample;
using placement::VmState;

namespace {

/// How long a VM just placed counts with more than is measured.
constexpr CpuTime kPendingFor{60'000'000};
constexpr std::int64_t kThousandth = 1000;

std::optional<NodeIndex> node_of(const placement::Topology& topology, NodeId id) {
  return id.value < 0 ? std::nullopt : topology.index_of(id);
}

/// A vCPU's run and wait time between two readings, or nothing if they do not belong together.
struct VcpuTime {
  CpuTime run;
  CpuTime wait;
};

std::optional<VcpuTime> time_of(std::int32_t vcpu, const VmSample& before, const VmSample& now) {
  const auto find = [vcpu](const VmSample& sample) -> const placement::VcpuSample* {
    const auto found = std::lower_bound(
        sample.vcpus.begin(), sample.vcpus.end(), vcpu,
        [](const placement::VcpuSample& entry, std::int32_t key) { return entry.vcpu < key; });
    return found != sample.vcpus.end() && found->vcpu == vcpu ? &*found : nullptr;
  };
  const placement::VcpuSample* first = find(before);
  const placement::VcpuSample* second = find(now);
  if (first == nullptr || second == nullptr || first->tid != second->tid ||
      second->run_ns < first->run_ns || second->wait_ns < first->wait_ns) {
    return std::nullopt;
  }
  return VcpuTime{CpuTime{(second->run_ns - first->run_ns) / kThousandth},
                  CpuTime{(second->wait_ns - first->wait_ns) / kThousandth}};
}

/// One step of an exponential average with the given half-life. 2^(-t/h) is taken as h / (h + t ln
/// 2), which is within 0.1 % for epochs of a few seconds and needs only integers.
CpuTime averaged(CpuTime average, CpuTime now, CpuTime epoch, std::int64_t half_life_s) {
  const std::int64_t half_life_ms = half_life_s * 1000;
  const std::int64_t step_ms = epoch.value / 1000 * 693 / 1000;
  return now + CpuTime{(average - now).value * half_life_ms / (half_life_ms + step_ms)};
}

/// Pins count as "on the node" if they name CPUs of that node and no others.
bool pinned_within(const std::vector<CpuId>& cpus, const placement::Node& node) {
  return !cpus.empty() && std::all_of(cpus.begin(), cpus.end(), [&](CpuId cpu) {
    return std::any_of(node.cpus.begin(), node.cpus.end(),
                       [cpu](const placement::Cpu& own) { return own.id == cpu; });
  });
}

std::string first_missing_for(const Sample& sample, const VmId& vm) {
  for (const placement::MissingSource& missing : sample.missing) {
    if (missing.vm == vm) {
      return missing.source + ": " + missing.reason;
    }
  }
  return {};
}

}  // namespace

Ledger::Ledger(placement::Topology topology, placement::Options options)
    : topology_(std::move(topology)), options_(options) {}

void Ledger::set_topology(placement::Topology topology) {
  topology_ = std::move(topology);
  last_non_vm_.clear();
  for (auto& [id, vm] : vms_) {
    vm.memory.reset();
    for (ClientRecord& client : vm.clients) {
      if (!node_of(topology_, client.home)) {
        client.home = NodeId{};
      }
    }
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
    std::vector<placement::ClientShape> shapes =
        split_into_clients(description, topology_, options_.prefer_ht != 0);
    std::vector<ClientRecord> clients(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (i < record.clients.size()) {
        clients[i] = std::move(record.clients[i]);
      }
      clients[i].shape = std::move(shapes[i]);
      const std::vector<NodeIndex> allowed = allowed_homes(topology_, description.policy);
      const std::optional<NodeIndex> home = node_of(topology_, clients[i].home);
      if (home && std::find(allowed.begin(), allowed.end(), *home) == allowed.end()) {
        clients[i].home = NodeId{};
      }
    }
    record.clients = std::move(clients);
    record.description = description;
    next.emplace(description.id, std::move(record));
  }
  vms_ = std::move(next);
  knows_domains_ = true;
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

void count(MigrationCounts& counts, Reason reason) {
  switch (reason) {
    case Reason::kLoadMove:
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
      ++counts.administrator;
      break;
    case Reason::kInitialPlacement:
    case Reason::kMemoryPull:
      break;
  }
}

bool is_swap(Reason reason) {
  return reason == Reason::kLoadSwap || reason == Reason::kLocalitySwap ||
         reason == Reason::kLongTermSwap;
}

}  // namespace

void Ledger::set_home(const ClientId& id, NodeId node, Reason reason) {
  ClientRecord* client = find_client(vms_, id);
  if (client == nullptr || !node_of(topology_, node) || client->home == node) {
    return;
  }
  if (client->home.value >= 0) {
    client->came_from = client->home;
  }
  client->home = node;
  client->epochs_here = 0;
  if (is_swap(reason)) {
    client->epochs_since_swap = 0;
  }
}

void Ledger::count_move(const ClientId& id, Reason reason) {
  if (ClientRecord* client = find_client(vms_, id); client != nullptr) {
    count(client->counts, reason);
  }
}

void Ledger::adopt_home(const ClientId& id, NodeId node) {
  ClientRecord* client = find_client(vms_, id);
  if (client != nullptr && node_of(topology_, node)) {
    client->home = node;
  }
}

void Ledger::forget_home(const ClientId& id) {
  if (ClientRecord* client = find_client(vms_, id); client != nullptr) {
    client->home = NodeId{};
  }
}

void Ledger::set_moving(const VmId& vm, bool moving) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    for (ClientRecord& client : found->second.clients) {
      client.moving = moving;
    }
  }
}

void Ledger::transfer_began(const VmId& vm) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.transferring = true;
  }
}

void Ledger::transfer_ended(const VmId& vm, Bytes left_behind) {
  if (const auto found = vms_.find(vm); found != vms_.end()) {
    found->second.transferring = false;
    found->second.left_behind = left_behind;
    found->second.epochs_since_transfer = 0;
  }
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

bool Ledger::is_bound(const VmRecord& vm, const ClientRecord& client) const {
  const std::optional<NodeIndex> home = node_of(topology_, client.home);
  if (!home || client.epochs_here == 0) {
    return false;
  }
  return std::all_of(client.shape.vcpus.begin(), client.shape.vcpus.end(), [&](std::int32_t vcpu) {
    return std::any_of(vm.description.vcpu_pins.begin(), vm.description.vcpu_pins.end(),
                       [&](const placement::Pin& pin) {
                         return pin.number == vcpu &&
                                pinned_within(pin.cpus, topology_.nodes[*home]);
                       });
  });
}

Snapshot Ledger::advance(const Sample& sample) {
  ++epochs_;
  Snapshot snapshot;
  snapshot.epoch = epochs_;
  snapshot.topology = topology_;
  snapshot.epoch_length = CpuTime{options_.rebalance_period * 1000};
  if (last_sample_ && sample.taken_at > last_sample_->taken_at) {
    snapshot.epoch_length = CpuTime{(sample.taken_at - last_sample_->taken_at).value};
  }
  measure_vms(sample, snapshot);
  measure_nodes(sample, snapshot);
  share_out(snapshot);
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

}  // namespace

void Ledger::measure_vms(const Sample& sample, Snapshot& snapshot) {
  const CpuTime epoch = snapshot.epoch_length;
  for (auto& [id, vm] : vms_) {
    VmState state;
    state.id = id;
    state.name = vm.description.name;
    state.policy = vm.description.policy;
    state.memory_stays_because = why_memory_stays(vm.description).value_or("");
    state.stall = Permille{options_.mem_stall_pct * 10};
    state.transferring = vm.transferring;
    state.left_behind = vm.left_behind;
    state.epochs_since_transfer = vm.epochs_since_transfer++;
    state.first_client = snapshot.clients.size();
    state.client_count = vm.clients.size();

    const auto found =
        std::lower_bound(sample.vms.begin(), sample.vms.end(), id,
                         [](const VmSample& entry, const VmId& key) { return entry.id < key; });
    const VmSample* now = found != sample.vms.end() && found->id == id ? &*found : nullptr;
    const auto stale = [&](std::string why) {
      if (state.fresh) {
        state.fresh = false;
        state.stale_because = std::move(why);
      }
    };
    if (now == nullptr) {
      const std::string why = first_missing_for(sample, id);
      stale(why.empty() ? "it was not read in this epoch" : why);
      if (vm.last) {
        state.weight = vm.last->weight;
      }
    } else {
      state.weight = now->weight;
      if (vm.last && vm.last->process != now->process) {
        vm.last.reset();
        vm.memory.reset();
      }
      if (now->memory) {
        vm.memory = now->memory;
      }
    }
    state.measured = now != nullptr && vm.last.has_value();
    if (!state.measured && vm.found_running) {
      stale("it was found running and needs a second reading");
    }

    CpuTime throttled;
    if (state.measured) {
      throttled = CpuTime{std::max<std::int64_t>(now->throttled_us - vm.last->throttled_us, 0)};
    }
    CpuTime ready_of_all;
    for (std::size_t index = 0; index < vm.clients.size(); ++index) {
      const ClientRecord& record = vm.clients[index];
      ClientState client;
      client.id = {id, static_cast<std::int32_t>(index)};
      client.vm = snapshot.vms.size();
      client.vcpus = record.shape.vcpus;
      client.home = node_of(topology_, record.home).value_or(kNoNode);
      client.memory_size = record.shape.memory;
      client.allowed = allowed_homes(topology_, vm.description.policy);
      client.epochs_here = record.epochs_here;
      client.came_from = node_of(topology_, record.came_from).value_or(kNoNode);
      client.epochs_since_swap = record.epochs_since_swap;
      client.moving = record.moving;
      client.owed_before = record.owed_before;
      if (state.measured) {
        for (const std::int32_t vcpu : record.shape.vcpus) {
          if (const std::optional<VcpuTime> time = time_of(vcpu, *vm.last, *now)) {
            client.used += time->run;
            client.ready += time->wait;
          } else {
            stale("vCPU " + std::to_string(vcpu) + " has no two readings of one thread");
          }
        }
      }
      ready_of_all += client.ready;
      client.weight =
          static_cast<std::int64_t>(state.weight) * kThousandth * client.vcpu_count() /
          std::max<std::int64_t>(static_cast<std::int64_t>(vm.description.vcpus.size()), 1);
      snapshot.clients.push_back(std::move(client));
    }

    // Waiting for the VM's own quota is nobody's debt.
    CpuTime wanted;
    for (ClientIndex i = state.first_client; i < snapshot.clients.size(); ++i) {
      ClientState& client = snapshot.clients[i];
      ClientRecord& record = vm.clients[i - state.first_client];
      const CpuTime most = epoch * client.vcpu_count();
      const CpuTime own_wait =
          ready_of_all.value > 0
              ? throttled * permille_of(client.ready.value, ready_of_all.value, Permille{}).value /
                    1000
              : CpuTime{};
      const CpuTime expected =
          most * (vm.expected ? vm.expected->value : options_.cold_start_pct * 10) / 1000;
      if (state.measured) {
        client.demand = std::min(client.used + std::max(client.ready - own_wait, CpuTime{}), most);
        record.average = record.age_epochs <= 1 ? client.demand
                                                : averaged(record.average, client.demand, epoch,
                                                           options_.load_half_life);
      } else if (record.age_epochs == 0 && !vm.found_running) {
        record.average = expected;
      }
      client.load = record.average;
      const CpuTime age = epoch * record.age_epochs;
      if (!vm.found_running && age < kPendingFor && expected > record.average) {
        client.load += CpuTime{(expected - record.average).value * (kPendingFor - age).value /
                               kPendingFor.value};
      }
      wanted += client.demand;
    }
    if (now != nullptr && now->quota_permille) {
      const CpuTime quota{epoch.value * *now->quota_permille / 1000};
      if (wanted > quota) {
        for (ClientIndex i = state.first_client; i < snapshot.clients.size(); ++i) {
          ClientState& client = snapshot.clients[i];
          client.demand =
              quota * permille_of(client.demand.value, wanted.value, Permille{}).value / 1000;
        }
        wanted = quota;
      }
    }
    state.demand = wanted;
    attribute_memory(vm, state, snapshot);
    if (state.epochs_since_transfer == placement::kEpochsUntilCounted) {
      vm.left_behind = remote_memory(snapshot, state);
      state.left_behind = vm.left_behind;
    }
    snapshot.vms.push_back(std::move(state));
  }
}

void Ledger::attribute_memory(const VmRecord& vm, const VmState& state, Snapshot& snapshot) const {
  if (!vm.memory || vm.memory->size() != topology_.nodes.size()) {
    return;
  }
  std::vector<MemoryOwner> owners;
  for (ClientIndex i = state.first_client; i < snapshot.clients.size(); ++i) {
    owners.push_back({snapshot.clients[i].home, snapshot.clients[i].memory_size});
  }
  std::vector<std::vector<Bytes>> parts = balancer::attribute_memory(*vm.memory, owners);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ClientState& client = snapshot.clients[state.first_client + i];
    client.memory = std::move(parts[i]);
    client.memory_known = true;
  }
}

void Ledger::measure_nodes(const Sample& sample, Snapshot& snapshot) {
  const CpuTime epoch = snapshot.epoch_length;
  const std::size_t count = topology_.nodes.size();
  std::vector<NodeReading> readings(count);
  snapshot.nodes.assign(count, NodeState{});

  for (NodeIndex node = 0; node < count; ++node) {
    NodeState& state = snapshot.nodes[node];
    state.physical = epoch * topology_.nodes[node].core_count();
    state.threads = epoch * topology_.nodes[node].cpu_count();
    const auto found = std::lower_bound(
        sample.nodes.begin(), sample.nodes.end(), topology_.nodes[node].id,
        [](const placement::NodeSample& entry, NodeId key) { return entry.id < key; });
    state.known = found != sample.nodes.end() && found->id == topology_.nodes[node].id;
    if (state.known) {
      state.free = found->free;
      state.total = found->total;
      state.reserve = found->total * options_.node_reserve_pct / 100;
    }
    for (const placement::Cpu& cpu : topology_.nodes[node].cpus) {
      const auto at = [&](const Sample& from) -> std::optional<std::int64_t> {
        const auto entry = std::lower_bound(
            from.cpus.begin(), from.cpus.end(), cpu.id,
            [](const placement::CpuSample& item, CpuId key) { return item.id < key; });
        return entry != from.cpus.end() && entry->id == cpu.id ? std::optional(entry->busy_us)
                                                               : std::nullopt;
      };
      const std::optional<std::int64_t> now = at(sample);
      const std::optional<std::int64_t> before = last_sample_ ? at(*last_sample_) : now;
      if (!now || !before || *now < *before) {
        state.known = false;
        continue;
      }
      readings[node].busy += std::min(CpuTime{*now - *before}, epoch);
    }
  }

  CpuTime unbound;
  for (const ClientState& client : snapshot.clients) {
    const VmRecord& vm = vms_.at(client.id.vm);
    const ClientRecord& record = vm.clients[static_cast<std::size_t>(client.id.index)];
    if (client.home != kNoNode) {
      NodeState& node = snapshot.nodes[client.home];
      node.used += client.used;
      node.demand += client.demand;
      node.vcpus += client.vcpu_count();
    }
    if (client.home != kNoNode && is_bound(vm, record)) {
      readings[client.home].bound_used += client.used;
    } else {
      unbound += client.used;
    }
  }

  // What bound clients did not use was used by unbound ones, anywhere, and by everybody else.
  CpuTime rest;
  for (NodeReading& reading : readings) {
    reading.busy = std::max(reading.busy - reading.bound_used, CpuTime{});
    rest += reading.busy;
  }
  std::vector<CpuTime> non_vm(count);
  for (NodeIndex node = 0; node < count; ++node) {
    const CpuTime busy = readings[node].busy;
    const CpuTime theirs =
        rest > CpuTime{} ? unbound * permille_of(busy.value, rest.value, Permille{}).value / 1000
                         : CpuTime{};
    non_vm[node] = std::max(busy - theirs, CpuTime{});
    NodeState& state = snapshot.nodes[node];
    const CpuTime before = last_non_vm_.size() == count ? last_non_vm_[node] : non_vm[node];
    state.non_vm = std::min({non_vm[node], before, state.threads});
    state.capacity = placement::capacity(
        Supply{state.physical, state.threads, state.non_vm, options_.smt_gain_pct});
  }
  last_non_vm_ = std::move(non_vm);
}

void Ledger::share_out(Snapshot& snapshot) const {
  // The most the host could give for this demand, if it were spread perfectly.
  Supply host{{}, {}, {}, options_.smt_gain_pct};
  for (const NodeState& node : snapshot.nodes) {
    host.cores += node.physical;
    host.threads += node.threads;
    host.non_vm += node.non_vm;
  }
  CpuTime demand;
  std::vector<placement::Claim> claims;
  for (const VmState& vm : snapshot.vms) {
    demand += vm.demand;
    CpuTime reserved;
    for (ClientIndex i = vm.first_client; i < vm.first_client + vm.client_count; ++i) {
      reserved += snapshot.epoch_length * snapshot.clients[i].vcpu_count() *
                  vm.policy.reservation_permille / 1000;
    }
    claims.push_back({std::max(vm.weight, 1), reserved, vm.demand});
  }
  const CpuTime supply = service_beside_others(host, demand);
  const std::vector<CpuTime> shares = placement::fair_shares(supply, claims);

  for (std::size_t v = 0; v < snapshot.vms.size(); ++v) {
    VmState& vm = snapshot.vms[v];
    vm.entitled = shares[v];
    std::vector<placement::Claim> parts;
    for (ClientIndex i = vm.first_client; i < vm.first_client + vm.client_count; ++i) {
      const ClientState& client = snapshot.clients[i];
      parts.push_back({std::max(client.vcpu_count(), 1), CpuTime{}, client.demand});
    }
    const std::vector<CpuTime> of_clients = placement::fair_shares(vm.entitled, parts);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      ClientState& client = snapshot.clients[vm.first_client + part];
      client.entitled = of_clients[part];
      client.effective_used = client.used;
      if (client.home == kNoNode) {
        continue;
      }
      NodeState& node = snapshot.nodes[client.home];
      const Supply supply_of_node{node.physical, node.threads, node.non_vm, options_.smt_gain_pct};
      const CpuTime busy = std::min(node.used + node.non_vm, node.threads);
      if (busy > node.physical) {
        client.effective_used = CpuTime{
            client.used.value *
            permille_of(service(supply_of_node, busy).value, busy.value, Permille{1000}).value /
            1000};
      }
      client.owed = std::max(client.entitled - client.effective_used, CpuTime{});
      node.entitled += client.entitled;
      node.owed += client.owed;
    }
  }
  std::vector<CpuTime> loads(snapshot.nodes.size());
  for (const ClientState& client : snapshot.clients) {
    if (client.home != kNoNode) {
      loads[client.home] += client.load;
    }
  }
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    NodeState& state = snapshot.nodes[node];
    state.load_average = permille_of(loads[node].value, state.capacity.value, Permille{});
  }
}

void Ledger::remember(const Sample& sample, Snapshot& snapshot) {
  for (const ClientState& client : snapshot.clients) {
    VmRecord& vm = vms_.at(client.id.vm);
    ClientRecord& record = vm.clients[static_cast<std::size_t>(client.id.index)];
    record.owed_before.insert(record.owed_before.begin(), client.owed);
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(options_.lterm_fairness_interval, 0));
    if (record.owed_before.size() > most) {
      record.owed_before.resize(most);
    }
    ++record.epochs_here;
    ++record.epochs_since_swap;
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
  for (const VmSample& now : sample.vms) {
    if (const auto vm = vms_.find(now.id); vm != vms_.end()) {
      vm->second.last = now;
    }
  }
  last_sample_ = sample;
}

}  // namespace vmnuma::balancer
