// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/program.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "balancer/core/guards.h"
#include "balancer/optimal/owed_drops.h"
#include "placement/alignment.h"
#include "placement/group_loss.h"

namespace vmnuma::balancer {

namespace {

/// Costs are in thousands of core-us, memory in MiB, so that all numbers are of similar size.
double in_units(CpuTime time) {
  return static_cast<double>(time.value) / 1000;
}
double in_units(Bytes bytes) {
  return static_cast<double>(bytes.value) / static_cast<double>(kMiB.value);
}

bool are_alike(const Supply& a, const Supply& b) {
  return a.cores == b.cores && a.threads == b.threads && a.non_vm == b.non_vm;
}

/// A line that service never exceeds: at + slope x demand, in units.
struct Tangent {
  double at = 0;
  double slope = 0;
};

/// Returns tangents of service_beside_others() where demand exceeds the cores. With T the cores'
/// time, N what others use, and gain g, service is  g r + (1 - g) T r / (r + N)  for what runs, r,
/// from T - N to what all threads leave; its slope is  g + (1 - g) T N / (r + N)^2.
std::vector<Tangent> tangents_of(const Supply& supply) {
  constexpr int kMost = 9;  // the curve bends by less than a tenth of the node between two of them
  const double gain = static_cast<double>(supply.smt_gain_pct) / 100;
  const double cores = in_units(supply.cores);
  const double others = in_units(supply.non_vm);
  const double from = std::max(cores - others, 0.0);
  const double to = std::max(in_units(threads_left(supply)), from);
  std::vector<Tangent> tangents;
  tangents.push_back({in_units(capacity(supply)) + 0.001, 0});  // rounded down
  if (supply.threads <= supply.cores || to <= from) {
    return tangents;
  }
  const int count = others > 0 ? kMost : 1;
  for (int i = 0; i < count; ++i) {
    const double run = count == 1 ? from : from + (to - from) * i / (count - 1);
    const double busy = std::max(run + others, 0.001);
    const double service = gain * run + (1 - gain) * cores * run / busy;
    const double slope = gain + (1 - gain) * cores * others / (busy * busy);
    tangents.push_back({service - slope * run, slope});
  }
  return tangents;
}

/// Returns what the client was given at home and has not touched. Removes the client from
/// `arrangement`.
Bytes untouched_of(ClientIndex client, Arrangement& arrangement) {
  const NodeIndex home = arrangement.home(client);
  if (home == kNoNode) {
    return {};
  }
  const Bytes with_it = arrangement.untouched().of(client, home);
  arrangement.apply(std::array{Rehoming{client, kNoNode}});
  return with_it - arrangement.untouched().of(client, home);
}

}  // namespace

std::optional<Guard> room_making_guard(const Arrangement& now, ClientIndex client) {
  if (const auto guard = check_client(now, client, Reason::kAdministrator)) {
    return guard;
  }
  const VmState& vm = now.snapshot().vms[now.snapshot().clients[client].vm];
  if (vm.transferring) {
    return Guard::kMoving;
  }
  return now.memory(client).can_follow ? std::nullopt : std::optional(Guard::kMemoryStays);
}

MemoryRoom room_of(const Snapshot& snapshot) {
  MemoryRoom room(snapshot);
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const bool is_huge = page_size_of(snapshot, snapshot.clients[client]) > Bytes{};
    for (NodeIndex node = 0; is_huge && node < snapshot.nodes.size(); ++node) {
      room.of(client, node) = std::max(room.of(client, node), Bytes{});
    }
  }
  return room;
}

bool have_room(MemoryRoom room, const Arrangement& now, const Arrangement& then,
               std::span<const Rehoming> changes) {
  for (ClientIndex client = 0; client < now.homes().size(); ++client) {
    const auto change = std::ranges::find(changes, client, &Rehoming::client);
    const NodeIndex home = change == changes.end() ? then.home(client) : change->to;
    const MemoryProfile& memory = now.memory(client);
    if (home != now.home(client) && home != kNoNode && memory.can_follow) {
      for (const MemoryProfile::Part& part : memory.parts) {
        room.of(client, part.node) += part.bytes;
      }
      room.of(client, home) -= memory.resident;
    }
  }
  return std::ranges::all_of(changes, [&](const Rehoming& change) {
    return room.of(change.client, change.to) >= Bytes{};
  });
}

HomesProgram::HomesProgram(const Arrangement& now, Cost cost) : now_(&now), cost_(cost) {
  add_homes();
  if (cost == Cost::kLostTime) {
    add_owed();
  }
  add_memory();
  add_groups();
  keep_within_limits();
  if (cost == Cost::kLostTime) {
    add_talks();
  }
}

/// Residency and the way back are a matter of seconds; the other guards are not.
bool HomesProgram::is_held(ClientIndex client) const {
  if (cost_ == Cost::kMemoryMoved) {
    return room_making_guard(*now_, client).has_value();
  }
  const auto guard = check_client(*now_, client, Reason::kLoadMove);
  return guard && *guard != Guard::kResidency;
}

/// For a client that is not held. Groups are left to their rows.
bool HomesProgram::may_go(ClientIndex client, NodeIndex node) const {
  const Snapshot& snapshot = now_->snapshot();
  const ClientState& state = snapshot.clients[client];
  if (!snapshot.nodes[node].known || !snapshot.topology.can_be_home(node) ||
      !std::ranges::binary_search(state.allowed, node)) {
    return false;
  }
  if (cost_ == Cost::kLostTime) {
    return true;
  }
  const auto guard =
      check_targets(*now_, Reason::kAdministrator, std::array{Rehoming{client, node}});
  return !guard || *guard == Guard::kAntiAffinity;
}

double HomesProgram::cost_of(ClientIndex client, NodeIndex node) const {
  const Snapshot& snapshot = now_->snapshot();
  const Options& options = now_->options();
  const ClientState& state = snapshot.clients[client];
  const MemoryProfile& memory = now_->memory(client);
  if (cost_ == Cost::kMemoryMoved) {
    return node == state.home ? 0 : in_units(memory.not_on(node)) + kCostOfAMove;
  }
  const double horizon = static_cast<double>(std::max<std::int64_t>(options.move_horizon, 1));
  const MemoryCost& here = now_->memory_here(client);
  double cost = in_units(here.standing);
  if (node != state.home) {
    const MemoryCost there = memory_cost(snapshot, state, memory, node, memory.resident, options);
    cost = in_units(there.standing) +
           in_units(CpuTime{options.move_cost_fixed} + there.travel - here.travel) / horizon;
  }
  return cost + in_units(lost_to_far_devices(snapshot, state, node, options));
}

void HomesProgram::add_homes() {
  const Snapshot& snapshot = now_->snapshot();
  choices_.resize(snapshot.clients.size());
  columns_.assign(snapshot.clients.size(), std::vector<ColumnIndex>(snapshot.nodes.size(), kNone));
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const NodeIndex home = snapshot.clients[client].home;
    if (home == kNoNode) {
      continue;
    }
    const bool held = is_held(client);
    LinearProgram::Row one_home{{}, 1, /*exactly=*/true};
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      if (node != home && (held || !may_go(client, node))) {
        continue;
      }
      choices_[client].push_back(node);
      columns_[client][node] = program_.add({0, 1, cost_of(client, node), /*whole=*/true});
      one_home.terms.push_back({columns_[client][node], 1});
    }
    program_.rows.push_back(std::move(one_home));
  }
}

void HomesProgram::add_owed() {
  const Snapshot& snapshot = now_->snapshot();
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    owed_.push_back(program_.add({0, LinearProgram::kNoLimit, 1, /*whole=*/false}));
    owed_rows_.emplace_back();
    for (const Tangent& tangent : tangents_of(now_->node(node).supply())) {
      // entitled - at - slope x demand <= owed
      LinearProgram::Row row{{{owed_[node], -1}}, tangent.at, /*exactly=*/false};
      for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
        if (const ColumnIndex column = columns_[client][node]; column != kNone) {
          const Load& load = now_->load(client);
          row.terms.push_back(
              {column, in_units(load.entitled) - tangent.slope * in_units(load.demand)});
        }
      }
      owed_rows_[node].push_back(program_.rows.size());
      program_.rows.push_back(std::move(row));
    }
    // A client is owed no less in company than alone.
    LinearProgram::Row alone{{{owed_[node], -1}}, 0, /*exactly=*/false};
    for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
      const ColumnIndex column = columns_[client][node];
      if (column == kNone) {
        continue;
      }
      const CpuTime owed =
          NodeLoad(now_->node(node).supply(), {now_->load(client)}).owed() - CpuTime{2};
      if (owed > CpuTime{}) {
        alone.terms.push_back({column, in_units(owed)});
      }
    }
    if (alone.terms.size() > 1) {
      owed_rows_[node].push_back(program_.rows.size());
      program_.rows.push_back(std::move(alone));
    }
  }
}

void HomesProgram::learn(NodeIndex node, const std::vector<ClientIndex>& residents, CpuTime owed) {
  std::vector<Load> loads;
  loads.reserve(residents.size());
  for (const ClientIndex client : residents) {
    loads.push_back(now_->load(client));
  }
  const std::vector<CpuTime> drops = drops_of(now_->node(node).supply(), loads, owed);
  for (NodeIndex like = 0; like < owed_.size(); ++like) {
    if (!are_alike(now_->node(like).supply(), now_->node(node).supply())) {
      continue;
    }
    // owed - sum over residents of drop x (1 - lives there) <= owed column
    LinearProgram::Row row{{{owed_[like], -1}}, -in_units(owed), /*exactly=*/false};
    for (std::size_t i = 0; i < residents.size(); ++i) {
      row.limit += in_units(drops[i]);
      if (const ColumnIndex column = columns_[residents[i]][like]; column != kNone) {
        row.terms.push_back({column, in_units(drops[i])});
      }
    }
    owed_rows_[like].push_back(program_.rows.size());
    program_.rows.push_back(std::move(row));
  }
}

CpuTime HomesProgram::owed(NodeIndex node, const Homes& homes) const {
  std::vector<double> values = values_of(homes);
  double most = 0;
  for (const std::size_t index : owed_rows_[node]) {
    const LinearProgram::Row& row = program_.rows[index];
    double owed = -row.limit;
    for (const LinearProgram::Term& term : row.terms) {
      owed += term.column == owed_[node] ? 0 : term.factor * values[term.column];
    }
    most = std::max(most, owed);
  }
  return CpuTime{static_cast<std::int64_t>(most * 1000)};
}

// ---- memory ----

void HomesProgram::add_memory() {
  const Snapshot& snapshot = now_->snapshot();
  const MemoryRoom room(snapshot);
  std::map<Bytes, std::vector<ClientIndex>> by_page_size;
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    by_page_size[page_size_of(snapshot, snapshot.clients[client])].push_back(client);
  }
  for (const auto& [page_size, clients] : by_page_size) {
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      const Bytes free = std::max(room.of(clients.front(), node), Bytes{});
      LinearProgram::Row row{{}, in_units(free), /*exactly=*/false};
      for (const ClientIndex client : clients) {
        const MemoryProfile& memory = now_->memory(client);
        // At any other home than the present one all of the client's memory arrives there, and what
        // lies here leaves.
        for (const NodeIndex home : choices_[client]) {
          const Bytes more = (home == node ? memory.resident : Bytes{}) - memory.on(node);
          if (memory.can_follow && home != now_->home(client) && more != Bytes{}) {
            row.terms.push_back({columns_[client][home], in_units(more)});
          }
        }
      }
      if (std::ranges::any_of(row.terms,
                              [](const LinearProgram::Term& term) { return term.factor > 0; })) {
        program_.rows.push_back(std::move(row));
      }
    }
  }
}

void HomesProgram::free_up(NodeIndex node, Bytes page_size, Bytes bytes) {
  const Snapshot& snapshot = now_->snapshot();
  LinearProgram::Row row{{}, -in_units(bytes), /*exactly=*/false};
  Arrangement emptied = *now_;
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    if (page_size_of(snapshot, snapshot.clients[client]) != page_size) {
      continue;
    }
    const MemoryProfile& memory = now_->memory(client);
    const Bytes untouched = untouched_of(client, emptied);
    for (const NodeIndex home : choices_[client]) {
      if (home == now_->home(client)) {
        continue;
      }
      const Bytes comes = home == node ? memory.resident + untouched : Bytes{};
      const Bytes leaves = memory.on(node) + (now_->home(client) == node ? untouched : Bytes{});
      if (comes != leaves) {
        row.terms.push_back({columns_[client][home], in_units(comes - leaves)});
      }
    }
  }
  program_.rows.push_back(std::move(row));
}

LinearProgram HomesProgram::costing_only(const std::vector<bool>& clients) const {
  LinearProgram program = program_;
  for (ClientIndex client = 0; client < columns_.size(); ++client) {
    for (const ColumnIndex column : columns_[client]) {
      if (column != kNone && !clients[client]) {
        program.columns[column].cost = 0;
      }
    }
  }
  return program;
}

void HomesProgram::limit_cost(const std::vector<bool>& clients, double limit) {
  LinearProgram::Row row{{}, limit, /*exactly=*/false};
  for (ClientIndex client = 0; client < columns_.size(); ++client) {
    for (const ColumnIndex column : columns_[client]) {
      if (column != kNone && clients[client] && program_.columns[column].cost > 0) {
        row.terms.push_back({column, program_.columns[column].cost});
      }
    }
  }
  program_.rows.push_back(std::move(row));
}

void HomesProgram::forbid(const Homes& homes) {
  LinearProgram::Row row{{}, -1, /*exactly=*/false};
  for (ClientIndex client = 0; client < homes.size(); ++client) {
    if (homes[client] != kNoNode && homes[client] != now_->home(client)) {
      row.terms.push_back({columns_[client][homes[client]], 1});
      row.limit += 1;
    }
  }
  program_.rows.push_back(std::move(row));
}

// ---- groups ----

std::vector<ColumnIndex> HomesProgram::columns(const std::vector<ClientIndex>& clients,
                                               NodeIndex node) const {
  std::vector<ColumnIndex> columns;
  for (const ClientIndex client : clients) {
    if (columns_[client][node] != kNone) {
      columns.push_back(columns_[client][node]);
    }
  }
  return columns;
}

ColumnIndex HomesProgram::any_of(const std::vector<ColumnIndex>& columns) {
  if (columns.size() == 1) {
    return columns.front();
  }
  const ColumnIndex any = program_.add({0, 1, 0, /*whole=*/false});
  for (const ColumnIndex column : columns) {
    program_.rows.push_back({{{column, 1}, {any, -1}}, 0, /*exactly=*/false});
  }
  return any;
}

void HomesProgram::add_groups() {
  const Snapshot& snapshot = now_->snapshot();
  const Options& options = now_->options();
  for (const bool apart : {false, true}) {
    std::map<std::string, std::vector<ClientIndex>> groups;
    std::map<std::string, std::size_t> sizes;
    std::set<std::string> hard;
    for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
      const VmPolicy& policy = snapshot.vms[snapshot.clients[client].vm].policy;
      const std::string& name = apart ? policy.anti_affinity_group : policy.affinity_group;
      sizes[name] += 1;
      if (!name.empty() && !choices_[client].empty()) {
        groups[name].push_back(client);
        if (apart && policy.anti_affinity_hard) {
          hard.insert(name);
        }
      }
    }
    const std::int64_t weight = apart ? options.anti_affinity_weight : options.affinity_weight;
    for (const auto& [name, members] : groups) {
      if (hard.contains(name)) {
        keep_apart(members);
      }
      const bool counts = weight > 0 && cost_ == Cost::kLostTime;
      for (std::size_t i = 0; counts && i < members.size(); ++i) {
        for (std::size_t j = i + 1; j < members.size(); ++j) {
          const ClientState& one = snapshot.clients[members[i]];
          const ClientState& other = snapshot.clients[members[j]];
          if (one.vm != other.vm) {
            const std::int64_t vcpus = std::min(one.vcpu_count(), other.vcpu_count());
            const CpuTime loss =
                apart ? loss_of_pair_together(snapshot.epoch_length, vcpus, weight)
                      : loss_of_pair_apart(snapshot.epoch_length, vcpus, weight, sizes[name]);
            add_pair(members[i], members[j], in_units(loss), apart);
          }
        }
      }
    }
  }
}

void HomesProgram::add_talks() {
  const auto talks = talks_of(now_->snapshot(), now_->options());
  for (ClientIndex client = 0; client < talks.size(); ++client) {
    for (const Talk& talk : talks[client]) {
      if (client < talk.with && !choices_[client].empty() && !choices_[talk.with].empty()) {
        add_pair(client, talk.with, in_units(talk.lost_apart), /*apart=*/false);
      }
    }
  }
}

/// No node gets more of a VM than its policy allows, or than it has already.
void HomesProgram::keep_within_limits() {
  const Snapshot& snapshot = now_->snapshot();
  for (const VmState& vm : snapshot.vms) {
    const auto most = most_per_node(snapshot, vm);
    for (NodeIndex node = 0; most && node < snapshot.nodes.size(); ++node) {
      std::int64_t already = 0;
      std::int64_t stays = 0;
      LinearProgram::Row row;
      for (ClientIndex client = vm.first_client; client < vm.end_client(); ++client) {
        const std::int64_t vcpus = snapshot.clients[client].vcpu_count();
        already += now_->home(client) == node ? vcpus : 0;
        stays += now_->home(client) == node && choices_[client].empty() ? vcpus : 0;
        for (const ColumnIndex column : columns({client}, node)) {
          row.terms.push_back({column, static_cast<double>(vcpus)});
        }
      }
      row.limit = static_cast<double>(std::max(*most, already) - stays);
      if (!row.terms.empty()) {
        program_.rows.push_back(std::move(row));
      }
    }
  }
}

/// At most one VM of the group on a node; if there are more already, none joins before all of them
/// have left.
void HomesProgram::keep_apart(const std::vector<ClientIndex>& members) {
  std::map<std::size_t, std::vector<ClientIndex>> vms;
  for (const ClientIndex client : members) {
    vms[now_->snapshot().clients[client].vm].push_back(client);
  }
  for (NodeIndex node = 0; node < now_->snapshot().nodes.size(); ++node) {
    struct Part {
      ColumnIndex column;
      bool is_here;
    };
    std::vector<Part> parts;
    for (const auto& [vm, clients] : vms) {
      const std::vector<ColumnIndex> choices = columns(clients, node);
      if (!choices.empty()) {
        const bool is_here = std::ranges::any_of(
            clients, [&](ClientIndex client) { return now_->home(client) == node; });
        parts.push_back({any_of(choices), is_here});
      }
    }
    const auto already =
        std::ranges::count_if(parts, [](const Part& part) { return part.is_here; });
    const double most = std::max(static_cast<double>(already), 1.0);
    LinearProgram::Row row{{}, most, /*exactly=*/false};
    for (const Part& part : parts) {
      row.terms.push_back({part.column, part.is_here ? 1.0 : most});
    }
    if (row.terms.size() > 1) {
      program_.rows.push_back(std::move(row));
    }
  }
}

/// Adds a column that is 1 if the pair is broken: apart, or together if it should be apart.
void HomesProgram::add_pair(ClientIndex a, ClientIndex b, double cost, bool apart) {
  const ColumnIndex broken = program_.add({0, 1, cost, /*whole=*/false});
  for (NodeIndex node = 0; node < now_->snapshot().nodes.size(); ++node) {
    const ColumnIndex one = columns_[a][node];
    const ColumnIndex other = columns_[b][node];
    LinearProgram::Row row{{{broken, -1}}, apart ? 1.0 : 0.0, /*exactly=*/false};
    if (one != kNone) {
      row.terms.push_back({one, 1});
    }
    if (other != kNone) {
      row.terms.push_back({other, apart ? 1.0 : -1.0});
    }
    if (one != kNone && (!apart || other != kNone)) {
      program_.rows.push_back(std::move(row));
    }
  }
}

// ---- solutions ----

Homes HomesProgram::homes_of(const std::vector<double>& values) const {
  Homes homes(choices_.size(), kNoNode);
  for (ClientIndex client = 0; client < choices_.size(); ++client) {
    double most = -1;
    for (const NodeIndex node : choices_[client]) {
      if (const double value = values[columns_[client][node]]; value > most) {
        most = value;
        homes[client] = node;
      }
    }
  }
  return homes;
}

std::vector<double> HomesProgram::values_of(const Homes& homes) const {
  std::vector<double> values(program_.columns.size(), 0);
  for (ClientIndex client = 0; client < homes.size(); ++client) {
    if (homes[client] == kNoNode) {
      continue;
    }
    const ColumnIndex column = columns_[client][homes[client]];
    if (column == kNone) {
      return {};
    }
    values[column] = 1;
  }
  return values;
}

}  // namespace vmnuma::balancer
