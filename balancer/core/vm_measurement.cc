// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/vm_measurement.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "balancer/core/averages.h"
#include "balancer/core/memory_attribution.h"
#include "balancer/core/ran_on.h"
#include "balancer/core/vm_usage.h"
#include "placement/base/sorted.h"
#include "placement/clients.h"
#include "placement/memory_cost.h"

namespace vmnuma::balancer {

namespace {

/// How long a VM that was just placed counts with more than is measured.
constexpr CpuTime kPendingFor{60 * kMicrosecondsPerSecond};
constexpr std::int64_t kThousandth = 1000;

std::string first_missing_for(const Sample& sample, const VmId& vm) {
  for (const MissingSource& missing : sample.missing) {
    if (missing.vm == vm) {
      return missing.source + ": " + missing.reason;
    }
  }
  return {};
}

/// Returns the memory of all clients of a VM that lies away from their homes.
Bytes remote_memory(const Snapshot& snapshot, const VmState& vm) {
  return sum_of(clients_of(snapshot, vm), [](const ClientState& client) {
    return sum_of(client.memory) - client.local_memory();
  });
}

/// Guests on pages of hugetlbfs have no other pages; no cgroup counts these.
std::optional<Permille> on_huge_pages(const VmRecord& vm) {
  if (vm.description.huge_page_size > Bytes{}) {
    return Permille{1000};
  }
  const std::optional<MemoryState>& memory = vm.last->memory_state;
  if (!memory || !memory->huge || memory->anonymous + memory->shared <= Bytes{}) {
    return std::nullopt;
  }
  const Permille share =
      permille_of(memory->huge->value, (memory->anonymous + memory->shared).value, Permille{});
  return std::min(share, Permille{1000});
}

VmFigures figures_of(const VmRecord& vm) {
  VmFigures figures;
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

bool has_same_threads(const VmSample& a, const VmSample& b) {
  return std::equal(
      a.vcpus.begin(), a.vcpus.end(), b.vcpus.begin(), b.vcpus.end(),
      [](const VcpuSample& one, const VcpuSample& other) { return one.tid == other.tid; });
}

class VmMeasurement {
 public:
  VmMeasurement(VmRecord& vm, const EpochReading& reading, Snapshot& snapshot)
      : vm_(vm), reading_(reading), snapshot_(snapshot) {}
  void take_in();

 private:
  [[nodiscard]] std::optional<VmUsage> read(VmState& state);
  void add_client(std::size_t index, const VmUsage* usage);
  [[nodiscard]] std::span<ClientState> clients() {
    return clients_of(snapshot_, snapshot_.vms.back());
  }
  void limit_to_quota();
  void read_beside(std::int64_t beside_us);
  [[nodiscard]] CpuTime beside(const ClientState& client) const;
  void add_beside();
  void look_ahead();
  void average_load(bool measured_now);
  [[nodiscard]] std::vector<Bytes> memory_of_cells(const std::vector<std::int32_t>& cells) const;
  void attribute_memory_to_clients();

  VmRecord& vm_;
  const EpochReading& reading_;
  Snapshot& snapshot_;
};

void VmMeasurement::take_in() {
  VmState state;
  state.id = vm_.description.id;
  state.name = vm_.description.name;
  state.guest_os = vm_.description.guest_os;
  state.policy = vm_.description.policy;
  state.memory_stays_because = why_memory_stays(vm_.description).value_or("");
  state.huge_page_size = vm_.description.huge_page_size;
  state.device_nodes = device_nodes(reading_.topology, vm_.description);
  state.wished_nodes = wished_nodes(reading_.topology, vm_.description);
  state.suggested = reading_.topology.indices_of(vm_.suggested);
  state.transferring = vm_.transferring;
  state.epochs_since_transfer = vm_.epochs_since_transfer;
  state.epochs_travelled = vm_.epochs_travelled;
  state.epochs_rested = vm_.epochs_rested;
  state.pull_again_after = vm_.pull_again_after;
  state.first_client = snapshot_.clients.size();
  state.client_count = vm_.clients.size();
  const std::optional<VmUsage> usage = read(state);
  state.weight = vm_.weight;
  if (reading_.local_read_ns) {
    state.counted_stall = vm_.counted_stall.at(reading_.now.taken_at);
  }
  state.stall = stall_of(state.policy, state.counted_stall, reading_.options);
  state.cpu_measured = usage.has_value();
  state.figures = figures_of(vm_);
  state.figures.memory_stall = state.counted_stall;
  vm_.measured = vm_.measured || usage.has_value();
  state.measured = vm_.measured;
  state.shares_memory = std::ranges::any_of(
      vm_.clients, [](const ClientRecord& client) { return client.shape.cells.empty(); });
  if (!state.measured && vm_.found_running) {
    make_stale(state, "it was found running and needs a second reading");
  }
  vm_.epochs_stale = state.fresh ? 0 : vm_.epochs_stale + 1;
  state.epochs_stale = vm_.epochs_stale;
  snapshot_.vms.push_back(std::move(state));

  for (std::size_t index = 0; index < vm_.clients.size(); ++index) {
    add_client(index, usage ? &*usage : nullptr);
  }
  if (usage) {
    limit_to_quota();
    add_beside();
  }
  VmState& added = snapshot_.vms.back();
  for (std::size_t index = 0; index < vm_.clients.size(); ++index) {
    const ClientState& client = clients()[index];
    added.demand += client.demand;
    if (usage) {
      const CpuTime epoch = snapshot_.epoch_length;
      vm_.clients[index].held = {per_second(client.used, epoch), per_second(client.ready, epoch),
                                 per_second(client.demand, epoch)};
    }
  }
  average_load(usage.has_value());
  look_ahead();
  attribute_memory_to_clients();
  if (vm_.epochs_since_transfer == kEpochsUntilCounted) {
    vm_.left_behind = remote_memory(snapshot_, added);
  } else if (vm_.epochs_since_transfer > kEpochsUntilCounted && added.fresh) {
    vm_.left_behind = std::min(vm_.left_behind, remote_memory(snapshot_, added));
  }
  added.left_behind = vm_.left_behind;
}

/// Returns what the VM used in this epoch, or nothing if that is unknown; sets the reason in
/// `state`.
std::optional<VmUsage> VmMeasurement::read(VmState& state) {
  const VmId& id = vm_.description.id;
  const VmSample* found = find_sorted(reading_.now.vms, id, &VmSample::id);
  if (found == nullptr) {
    const std::string why = first_missing_for(reading_.now, id);
    make_stale(state, why.empty() ? "it was not read in this epoch" : why);
    return std::nullopt;
  }
  const VmSample& now = *found;
  vm_.weight = now.weight;
  if (vm_.last && vm_.last->process != now.process) {
    vm_.last.reset();
    vm_.memory.reset();
    vm_.cell_memory.clear();
    vm_.counted_stall = {};
    vm_.beside.reset();
    vm_.measured = false;
    make_stale(state, "its process is a new one");
  }
  if (now.memory) {
    vm_.memory = now.memory;
    vm_.cell_memory = now.cell_memory;
  }
  if (now.memory_reads && reading_.local_read_ns) {
    vm_.counted_stall.take_in(*now.memory_reads, *reading_.local_read_ns, reading_.now.taken_at);
  }
  std::optional<VmUsage> usage;
  if (vm_.last && (reading_.before == nullptr || vm_.read_at != reading_.before->taken_at)) {
    make_stale(state, "it was not read in the epoch before");
  } else if (vm_.last) {
    std::vector<std::vector<std::int32_t>> groups;
    groups.reserve(vm_.clients.size());
    for (const ClientRecord& client : vm_.clients) {
      groups.push_back(client.shape.vcpus);
    }
    usage = usage_between(*vm_.last, now, groups);
    if (!usage->unusable_because.empty()) {
      make_stale(state, usage->unusable_because);
      usage.reset();
    } else {
      for (ClientRecord& client : vm_.clients) {
        take_in_where_it_ran(*vm_.last, now, reading_.topology, client);
      }
    }
  }
  if (vm_.last && !has_same_threads(*vm_.last, now)) {
    vm_.beside.reset();  // else what a vanished vCPU had run would count as this use
  }
  if (now.beside_us) {
    read_beside(*now.beside_us);
  }
  vm_.last = now;
  vm_.read_at = reading_.now.taken_at;
  return usage;
}

/// Adds the client with what it used, or else with its held numbers.
void VmMeasurement::add_client(std::size_t index, const VmUsage* usage) {
  const ClientRecord& record = vm_.clients[index];
  ClientState client;
  client.id = {vm_.description.id, static_cast<std::int32_t>(index)};
  client.vm = snapshot_.vms.size() - 1;
  client.vcpus = record.shape.vcpus;
  client.home = reading_.topology.index_of(record.home).value_or(kNoNode);
  client.memory_size = record.shape.memory;
  client.page_size = other_page_size(vm_.description, record.shape.cells);
  client.allowed = vm_.allowed;
  client.bound_to = bound_nodes(reading_.topology, vm_.description, record.shape.cells);
  client.epochs_here = record.epochs_here;
  client.came_from = reading_.topology.index_of(record.came_from).value_or(kNoNode);
  client.epochs_since_swap = record.epochs_since_swap;
  client.moving = record.moving;
  client.exclusive_cores = record.exclusive_cores;
  client.spills_to = reading_.topology.index_of(record.spills_to).value_or(kNoNode);
  client.spill_saves = in_epoch(record.spill_saves, snapshot_.epoch_length);
  client.owed_before = record.owed_before;
  client.owed_on_average = in_epoch(record.owed, snapshot_.epoch_length);
  client.weight = static_cast<std::int64_t>(vm_.weight) * kThousandth * client.vcpu_count() /
                  static_cast<std::int64_t>(vm_.description.vcpus.size());

  const CpuTime most = snapshot_.epoch_length * client.vcpu_count();
  if (usage != nullptr) {
    client.used = usage->groups[index].run;
    client.ready = usage->groups[index].wait;
    // Waiting because of the VM's own quota is not owed.
    const CpuTime ready_of_all = sum_of(usage->groups, &CpuUse::wait);
    const CpuTime own_wait = scaled(usage->throttled, client.ready.value, ready_of_all.value);
    client.demand = client.used + std::max(client.ready - own_wait, CpuTime{});
  } else if (vm_.measured) {
    client.used = in_epoch(record.held.used, snapshot_.epoch_length);
    client.ready = in_epoch(record.held.ready, snapshot_.epoch_length);
    client.demand = in_epoch(record.held.demand, snapshot_.epoch_length);
  }
  client.demand = std::min(client.demand, most);
  snapshot_.clients.push_back(std::move(client));
}

/// Limits each client's demand to what its quota allows.
void VmMeasurement::limit_to_quota() {
  if (!vm_.last->quota_permille) {
    return;
  }
  const CpuTime quota{snapshot_.epoch_length.value * *vm_.last->quota_permille / 1000};
  const CpuTime wanted = sum_of(clients(), &ClientState::demand);
  if (wanted > quota) {
    for (ClientState& client : clients()) {
      client.demand = scaled(client.demand, quota.value, wanted.value);
    }
  }
}

/// As with non-VM load, this use counts only to the extent that it lasts and is present now.
void VmMeasurement::read_beside(std::int64_t beside_us) {
  const Microseconds at = reading_.now.taken_at;
  BesideUse now{beside_us, at};
  if (vm_.beside && at > vm_.beside->read_at) {
    const CpuTime passed{(at - vm_.beside->read_at).value};
    const CpuTime rate =
        per_second(std::max(CpuTime{beside_us - vm_.beside->us}, CpuTime{}), passed);
    now.averaged = averaged(vm_.beside->averaged, rate, passed, recently(reading_.options));
    now.lasting = std::min(now.averaged, rate);
  }
  vm_.beside = now;
}

/// Returns the client's part of what its VM's other threads use.
CpuTime VmMeasurement::beside(const ClientState& client) const {
  return vm_.beside ? in_epoch(vm_.beside->lasting, snapshot_.epoch_length) * client.vcpu_count() /
                          static_cast<std::int64_t>(vm_.description.vcpus.size())
                    : CpuTime{};
}

/// These threads go wherever the clients go, so what they use counts as used by the clients.
void VmMeasurement::add_beside() {
  for (ClientState& client : clients()) {
    const CpuTime its = beside(client);
    client.used += its;
    client.demand += its;
  }
}

/// Adds what its clients are expected to want, if there is a forecast that the measured load does
/// not contradict.
void VmMeasurement::look_ahead() {
  if (reading_.forecasts == nullptr) {
    return;
  }
  const auto forecast = reading_.forecasts->find(vm_.description.id);
  if (forecast == reading_.forecasts->end()) {
    return;
  }
  for (ClientState& client : clients()) {
    const CpuTime full = snapshot_.epoch_length * client.vcpu_count();
    const CpuTime p95 = full * with_margin(forecast->second.p95, reading_.options).value / 1000;
    // Forecasts cover only vCPUs, which never want more than all of their time.
    if (client.load - beside(client) <= p95) {
      client.ahead = {full * forecast->second.mean.value / 1000, p95};
    }
  }
}

/// The clients' load averages, with pending load while the VM is new.
void VmMeasurement::average_load(bool measured_now) {
  const CpuTime epoch = snapshot_.epoch_length;
  for (std::size_t index = 0; index < vm_.clients.size(); ++index) {
    ClientRecord& record = vm_.clients[index];
    ClientState& client = clients()[index];
    const std::int64_t expected_permille =
        vm_.expected ? vm_.expected->value : reading_.options.cold_start_pct * 10;
    const CpuTime expected{kMicrosecondsPerSecond * client.vcpu_count() * expected_permille /
                           1000};  // per second
    if (measured_now) {
      const CpuTime now = per_second(client.demand, epoch);
      record.average =
          record.has_average
              ? averaged(record.average, now, epoch,
                         CpuTime{reading_.options.load_half_life * kMicrosecondsPerSecond})
              : now;
      record.recent = record.has_average
                          ? averaged(record.recent, now, epoch, recently(reading_.options))
                          : now;
      record.has_average = true;
    } else if (!record.has_average && !vm_.found_running) {
      record.average = expected;
    }
    CpuTime load = record.average;
    const CpuTime age = epoch * record.age_epochs;
    if (!vm_.found_running && age < kPendingFor && expected > record.average) {
      load += scaled(expected - record.average, (kPendingFor - age).value, kPendingFor.value);
    }
    client.load = in_epoch(load, epoch);
    client.recent = in_epoch(record.recent, epoch);
  }
}

/// Returns the memory per node that is known to belong to these cells; empty if none is.
std::vector<Bytes> VmMeasurement::memory_of_cells(const std::vector<std::int32_t>& cells) const {
  const std::vector<GuestCell>& all = vm_.description.cells;
  if (vm_.cell_memory.size() != all.size() || cells.empty()) {
    return {};
  }
  std::vector<Bytes> sum(reading_.topology.nodes.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_one = std::ranges::find(cells, all[i].id) != cells.end();
    if (is_one && vm_.cell_memory[i].size() == sum.size()) {
      for (NodeIndex node = 0; node < sum.size(); ++node) {
        sum[node] += vm_.cell_memory[i][node];
      }
    }
  }
  return sum;
}

void VmMeasurement::attribute_memory_to_clients() {
  if (!vm_.memory || vm_.memory->size() != reading_.topology.nodes.size()) {
    return;
  }
  const std::span<ClientState> clients = this->clients();
  std::vector<MemoryOwner> owners;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    owners.push_back(
        {clients[i].home, clients[i].memory_size, memory_of_cells(vm_.clients[i].shape.cells)});
  }
  std::vector<std::vector<Bytes>> parts = attribute_memory(*vm_.memory, owners);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    clients[i].memory = std::move(parts[i]);
    clients[i].memory_known = true;
  }
}

}  // namespace

void measure_vm(VmRecord& vm, const EpochReading& reading, Snapshot& snapshot) {
  VmMeasurement(vm, reading, snapshot).take_in();
}

Permille with_margin(Permille p95, const Options& options) {
  return std::min(Permille{1000}, p95 * (100 + options.forecast_margin) / 100);
}

}  // namespace vmnuma::balancer
