// SPDX-License-Identifier: Apache-2.0
#include "stats/reports/counters.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "placement/model/text.h"

namespace vmnuma::stats {
namespace {

std::int64_t to_ms(CpuTime time) {  // to the nearest
  return (time.value + 500) / 1000;
}
std::int64_t to_kb(Bytes bytes) {
  return bytes.value / kKiB.value;
}
std::int64_t percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? part * 100 / whole : 0;
}

std::int64_t number_of(const Snapshot& snapshot, NodeIndex node) {
  return snapshot.topology.nodes[node].id.value;
}

struct MemoryKb {
  std::int64_t local = 0;
  std::int64_t remote = 0;
  [[nodiscard]] std::int64_t all() const { return local + remote; }
};

/// Returns the client's memory; nothing while it is unknown. If the client has no home, all of it
/// counts as remote here.
std::optional<MemoryKb> memory_of(const ClientState& client) {
  if (!client.memory_known) {
    return std::nullopt;
  }
  MemoryKb memory;
  for (NodeIndex node = 0; node < client.memory.size(); ++node) {
    (node == client.home ? memory.local : memory.remote) += to_kb(client.memory[node]);
  }
  return memory;
}

/// Returns the number of the client's threads. Threads that belong to no particular client count
/// for the first one.
Figure worlds_of(const ReportInput& input, const ClientState& client) {
  if (client.id.index != 0) {
    return client.vcpu_count();
  }
  const Figure threads = input.groups.at(client.id.vm).threads;
  if (!threads) {
    return std::nullopt;
  }
  const VmState& vm = input.snapshot.vms[client.vm];
  std::int64_t others = 0;  // vCPUs of the VM's other clients
  for (std::size_t i = 1; i < vm.client_count; ++i) {
    others += input.snapshot.clients[vm.first_client + i].vcpu_count();
  }
  return std::max<std::int64_t>(*threads - others, client.vcpu_count());
}

ClientCounters counters_of(const ReportInput& input, const ClientState& client) {
  const auto found = input.counters.find(client.id);
  return found == input.counters.end() ? ClientCounters{} : found->second;
}

/// Calls `visit(client, key)` for every client of every VM that has a group.
template <class Visit>
void for_each_client(const ReportInput& input, Visit visit) {
  for (const ClientState& client : input.snapshot.clients) {
    const auto group = input.groups.find(client.id.vm);
    if (group != input.groups.end()) {
      visit(client, ClientKey{.group_name = "vm." + std::to_string(group->second.pid),
                              .group_id = group->second.id,
                              .client = client.id.index,
                              .vm_name = input.snapshot.vms[client.vm].name,
                              .vm_uuid = to_text(client.id.vm)});
    }
  }
}

}  // namespace

std::vector<PnodeRow> pnode_rows(const Snapshot& snapshot) {
  std::vector<PnodeRow> rows;
  for (NodeIndex i = 0; i < snapshot.topology.nodes.size(); ++i) {
    PnodeRow& row = rows.emplace_back();
    row.node = number_of(snapshot, i);
    row.total_kb = to_kb(snapshot.topology.nodes[i].memory);
    if (i >= snapshot.nodes.size()) {
      continue;
    }
    const NodeState& node = snapshot.nodes[i];
    row.vcpus = node.vcpus;
    if (node.cpu_measured) {
      const CpuTime used = std::min(node.used + node.non_vm, node.threads);
      row.used_ms = to_ms(used);
      row.idle_ms = to_ms(node.threads) - to_ms(used);
      row.entitled_ms = to_ms(node.entitled);
      row.owed_ms = to_ms(node.owed);
      if (node.capacity > CpuTime{}) {
        row.load_average_pct = node.load_average.value / 10;
      }
      row.non_vm_ms = to_ms(node.non_vm);
    }
    if (node.memory_read) {
      row.free_kb = to_kb(node.free);
      row.total_kb = to_kb(node.total);
    }
  }
  return rows;
}

std::vector<ClientRow> client_rows(const ReportInput& input) {
  std::vector<ClientRow> rows;
  for_each_client(input, [&](const ClientState& client, ClientKey key) {
    const ClientCounters counters = counters_of(input, client);
    const auto cpus = input.cpus.find(client.id);
    ClientRow& row = rows.emplace_back();
    row.key = std::move(key);
    row.affinity = affinity_mask(input.snapshot.topology.ids_of(client.allowed));
    row.worlds = worlds_of(input, client);
    row.vmm_worlds = client.vcpu_count();
    if (client.home != kNoNode) {
      row.home = number_of(input.snapshot, client.home);
      if (const auto memory = memory_of(client)) {
        row.local_kb = memory->local;
        row.remote_kb = memory->remote;
        row.current_local_pct = percent(memory->local, memory->all());
      }
    }
    if (counters.all_memory_sum > 0) {
      row.cumulative_local_pct = percent(counters.local_memory_sum, counters.all_memory_sum);
    }
    row.cpus = cpus == input.cpus.end() ? std::string{} : cpus->second;
  });
  return rows;
}

std::vector<MigrationRow> migration_rows(const ReportInput& input) {
  std::vector<MigrationRow> rows;
  for_each_client(input, [&](const ClientState& client, ClientKey key) {
    rows.push_back({std::move(key), counters_of(input, client).moves});
  });
  return rows;
}

std::vector<CnodeRow> cnode_rows(const ReportInput& input, const NodeStays& stays) {
  std::vector<CnodeRow> rows;
  for_each_client(input, [&](const ClientState& client, const ClientKey& key) {
    const std::map<NodeId, NodeStay>& of_client = stays.of(client.id);
    std::int64_t life = 0;
    for (const auto& [node, stay] : of_client) {
      life += stay.epochs;
    }
    const std::optional<MemoryKb> memory = memory_of(client);
    for (NodeIndex node = 0; node < input.snapshot.topology.nodes.size(); ++node) {
      const auto found = of_client.find(input.snapshot.topology.nodes[node].id);
      const NodeStay stay = found == of_client.end() ? NodeStay{} : found->second;
      const bool allowed =
          std::find(client.allowed.begin(), client.allowed.end(), node) != client.allowed.end();
      const std::int64_t here =
          memory && node < client.memory.size() ? to_kb(client.memory[node]) : 0;
      if (stay.epochs == 0 && !allowed && here == 0) {
        continue;
      }
      CnodeRow& row = rows.emplace_back();
      row.key = key;
      row.node = number_of(input.snapshot, node);
      row.time = stay.epochs;
      if (life > 0) {
        row.time_pct = percent(stay.epochs, life);
      }
      if (memory) {
        row.memory_kb = here;
        row.memory_pct = percent(here, memory->all());
      }
      if (stay.arrivals > 0) {
        row.average_epochs = stay.epochs / stay.arrivals;
      }
      row.memory_moves = client.moving && client.home == node ? 1 : 0;
    }
  });
  return rows;
}

std::vector<GlobalRow> global_rows(const ReportInput& input) {
  std::int64_t clients = 0;
  std::optional<MemoryKb> memory;  // of clients that have a home
  Migrations sum;
  for_each_client(input, [&](const ClientState& client, const ClientKey&) {
    ++clients;
    const auto of_client = memory_of(client);
    if (of_client && client.home != kNoNode) {
      const MemoryKb before = memory.value_or(MemoryKb{});
      memory = {before.local + of_client->local, before.remote + of_client->remote};
    }
    const Migrations moves = counters_of(input, client).moves;
    sum.balance += moves.balance;
    sum.locality += moves.locality;
    sum.long_term += moves.long_term;
    sum.load_swap += moves.load_swap;
    sum.locality_swap += moves.locality_swap;
    sum.page_rate += moves.page_rate;
  });
  return {{"nodes", static_cast<std::int64_t>(input.snapshot.topology.nodes.size())},
          {"clients", clients},
          {"localMemory", memory ? Figure(memory->local) : std::nullopt},
          {"remoteMemory", memory ? Figure(memory->remote) : std::nullopt},
          {"balanceMig", sum.balance},
          {"loadMig", std::nullopt},
          {"localityMig", sum.locality},
          {"longTermMig", sum.long_term},
          {"monitorMig", std::nullopt},
          {"loadSwap", sum.load_swap},
          {"localitySwap", sum.locality_swap},
          {"pageMigRate", sum.page_rate}};
}

std::string affinity_mask(const std::vector<NodeId>& nodes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::vector<unsigned> digits(1);  // the least significant first
  for (const NodeId node : nodes) {
    if (node.value >= 0) {
      const auto digit = static_cast<std::size_t>(node.value) / 4;
      digits.resize(std::max(digits.size(), digit + 1));
      digits[digit] |= 1U << (static_cast<unsigned>(node.value) % 4);
    }
  }
  std::string mask = "0x";
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    mask += kDigits[*digit];
  }
  return mask;
}

}  // namespace vmnuma::stats
