// SPDX-License-Identifier: Apache-2.0
#include "placement/cpu_assignment.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "placement/exclusive_cores.h"

namespace vmnuma {
namespace {

constexpr int kMostLooks = 8;

using CoreIndex = std::size_t;
using CacheIndex = std::size_t;
using Cores = std::vector<CoreIndex>;  ///< ascending

struct Core {
  CacheIndex cache = 0;
  std::vector<CpuId> cpus;           ///< ascending
  std::optional<std::size_t> owner;  ///< the client that has it alone
};

struct Cache {
  std::int32_t id = 0;
  Cores cores;
  bool has_latency = false;
  bool has_batch = false;
  std::int64_t vcpus = 0;  ///< of clients that are confined to it
  CpuTime load;
};

/// A client's request and its result so far.
struct Client {
  CpuRequest request;
  std::vector<CpuId> former;
  Cores cores;                      ///< a picker's; empty as long as it has none
  std::optional<CacheIndex> cache;  ///< the one that it is confined to without picking cores
  bool had_own = false;
  bool is_settled = false;
  std::int32_t exclusive_cores = 0;
  std::string refused;

  [[nodiscard]] bool wants_own() const { return request.binding == CpuBinding::kExclusive; }
  [[nodiscard]] bool shares() const { return request.binding == CpuBinding::kShare; }
  [[nodiscard]] bool shares_cores() const { return shares() && request.policy != CpuPolicy::kNone; }
  [[nodiscard]] bool is(CpuClass cpu_class) const { return request.cpu_class == cpu_class; }
};

class Assigner {
 public:
  Assigner(const Node& node, std::vector<CpuRequest> requests, const FormerCpus& former)
      : node_(node) {
    std::ranges::sort(requests, {}, &CpuRequest::client);
    for (CpuRequest& request : requests) {
      const auto known = former.find(request.client);
      Client client;
      if (known != former.end()) {
        client.former = known->second.cpus;
        client.had_own = known->second.were_its_own;
      }
      client.request = request;
      clients_.push_back(std::move(client));
    }
    find_cores();
  }

  std::vector<CpuGrant> assign() {
    give_own_cores();
    keep_shares();
    for (const CpuClass cpu_class : {CpuClass::kLatency, CpuClass::kNone}) {
      give_shares(cpu_class);
    }
    leave_ground();
    give_shares(CpuClass::kBatch);
    std::vector<CpuGrant> grants;
    for (Client& client : clients_) {
      grants.push_back({client.request.client, cpus_of(client), client.exclusive_cores,
                        std::move(client.refused)});
    }
    return grants;
  }

 private:
  void find_cores() {
    std::map<std::int32_t, CoreIndex> cores;
    std::map<std::int32_t, CacheIndex> caches;
    for (const Cpu& cpu : node_.cpus) {
      const auto [cache, is_new_cache] = caches.try_emplace(cpu.last_level_cache, caches_.size());
      if (is_new_cache) {
        caches_.push_back({cpu.last_level_cache});
      }
      const auto [core, is_new_core] = cores.try_emplace(cpu.core, cores_.size());
      if (is_new_core) {
        cores_.push_back({cache->second});
        caches_[cache->second].cores.push_back(core->second);
      }
      cores_[core->second].cpus.push_back(cpu.id);
    }
  }

  // ---- cores ----

  [[nodiscard]] std::size_t need(const Client& client) const {
    return static_cast<std::size_t>(cores_for(client.request.policy, client.request.vcpus, node_));
  }

  [[nodiscard]] std::size_t shared_cores() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(cores_, [](const Core& core) { return !core.owner.has_value(); }));
  }

  [[nodiscard]] std::vector<CpuId> cpus_on(const Cores& cores, CpuPolicy policy) const {
    std::vector<CpuId> cpus;
    for (const CoreIndex core : cores) {
      const std::vector<CpuId>& threads = cores_[core].cpus;
      cpus.insert(cpus.end(), threads.begin(),
                  policy == CpuPolicy::kSpreadByPCPUs ? threads.begin() + 1 : threads.end());
    }
    std::ranges::sort(cpus);
    return cpus;
  }

  /// Returns the policy that a picker asks for; with fewer cores than it needs, all threads of
  /// these.
  [[nodiscard]] CpuPolicy threads_of(const Client& client, std::size_t cores) const {
    return cores < need(client) ? CpuPolicy::kFullPCPUs : client.request.policy;
  }

  /// The client's former cores, if it can have exactly these again.
  [[nodiscard]] Cores former_cores(const Client& client, std::size_t count) const {
    Cores cores;
    for (CoreIndex core = 0; core < cores_.size(); ++core) {
      const bool had = std::ranges::any_of(cores_[core].cpus, [&](CpuId cpu) {
        return std::ranges::binary_search(client.former, cpu);
      });
      if (had && cores_[core].owner) {
        return {};
      }
      if (had) {
        cores.push_back(core);
      }
    }
    const bool same =
        cores.size() == count && cpus_on(cores, threads_of(client, count)) == client.former;
    return same ? cores : Cores{};
  }

  /// Returns true if no other client has picked the core, or would pick it again.
  [[nodiscard]] bool is_unused(const Core& core, const Client& by) const {
    if (core.owner) {
      return false;
    }
    return std::ranges::none_of(clients_, [&](const Client& other) {
      if (&other == &by || !other.shares_cores()) {
        return false;
      }
      return other.is_settled ? std::ranges::binary_search(other.cores, index_of(core))
                              : std::ranges::any_of(core.cpus, [&](CpuId cpu) {
                                  return other.former.size() < node_.cpus.size() &&
                                         std::ranges::binary_search(other.former, cpu);
                                });
    });
  }
  [[nodiscard]] CoreIndex index_of(const Core& core) const {
    return static_cast<CoreIndex>(&core - cores_.data());
  }

  /// Caches, best first for this client.
  [[nodiscard]] std::vector<CacheIndex> caches_for(const Client& client) const {
    std::vector<CacheIndex> order(caches_.size());
    for (CacheIndex cache = 0; cache < order.size(); ++cache) {
      order[cache] = cache;
    }
    const auto rank = [&](CacheIndex index) {
      const Cache& cache = caches_[index];
      const bool disturbs = (client.is(CpuClass::kLatency) && cache.has_batch) ||
                            (client.is(CpuClass::kBatch) && cache.has_latency);
      std::int64_t cpus = 0;
      std::int64_t given = 0;
      for (const CoreIndex core : cache.cores) {
        const auto count = static_cast<std::int64_t>(cores_[core].cpus.size());
        cpus += count;
        given += cores_[core].owner ? count : 0;
      }
      // Clients with cores of their own there use the cache, too.
      const Permille use = permille_of(cache.vcpus + given, cpus, Permille{});
      return std::tuple(disturbs, use, cache.load, cache.id);
    };
    std::ranges::sort(order, [&](CacheIndex a, CacheIndex b) { return rank(a) < rank(b); });
    return order;
  }

  /// Returns `count` of the cores that pass, in one cache if one has them; empty if there are too
  /// few.
  template <class Passes>
  [[nodiscard]] Cores pick(const Client& client, std::size_t count, Passes passes) const {
    std::vector<Cores> by_cache;
    std::size_t all = 0;
    for (const CacheIndex cache : caches_for(client)) {
      Cores here;
      for (const CoreIndex core : caches_[cache].cores) {
        if (passes(cores_[core])) {
          here.push_back(core);
        }
      }
      if (here.size() >= count) {
        here.resize(count);
        return here;
      }
      all += here.size();
      by_cache.push_back(std::move(here));
    }
    if (all < count) {
      return {};
    }
    // From as few caches as hold them.
    std::ranges::stable_sort(by_cache,
                             [](const Cores& a, const Cores& b) { return a.size() > b.size(); });
    Cores picked;
    for (const Cores& here : by_cache) {
      const std::size_t taken = std::min(count - picked.size(), here.size());
      picked.insert(picked.end(), here.begin(), here.begin() + static_cast<std::ptrdiff_t>(taken));
    }
    std::ranges::sort(picked);
    return picked;
  }

  // ---- exclusive cores ----

  void own(Client& client, Cores cores) {
    for (const CoreIndex core : cores) {
      cores_[core].owner = index_of(client);
    }
    client.exclusive_cores = static_cast<std::int32_t>(cores.size());
    settle_on_cores(client, std::move(cores));
  }
  [[nodiscard]] std::size_t index_of(const Client& client) const {
    return static_cast<std::size_t>(&client - clients_.data());
  }

  [[nodiscard]] bool leaves_enough(std::size_t count) const {
    return count + kCoresForOthers <= shared_cores();
  }

  void give_own_cores() {
    for (Client& client : clients_) {
      if (client.wants_own() && client.had_own && leaves_enough(need(client))) {
        if (Cores cores = former_cores(client, need(client)); !cores.empty()) {
          own(client, std::move(cores));
        }
      }
    }
    for (const CpuClass cpu_class : {CpuClass::kLatency, CpuClass::kNone, CpuClass::kBatch}) {
      for (Client& client : clients_) {
        if (client.wants_own() && client.is(cpu_class) && !client.is_settled) {
          give_own_cores(client);
        }
      }
    }
  }

  void give_own_cores(Client& client) {
    const std::size_t count = need(client);
    if (!leaves_enough(count)) {
      const std::size_t free = shared_cores() - kCoresForOthers;
      client.refused = "it asks for " + std::to_string(count) + " cores of its own, and node " +
                       std::to_string(node_.id.value) + " has " + std::to_string(free) +
                       " left to give away: of " + std::to_string(cores_.size()) + ", " +
                       std::to_string(cores_.size() - shared_cores()) +
                       " belong to others and one is for all";
      client.request.binding = CpuBinding::kNode;
      return;
    }
    Cores cores = pick(client, count, [&](const Core& core) { return is_unused(core, client); });
    if (cores.empty()) {
      cores = pick(client, count, [](const Core& core) { return !core.owner.has_value(); });
    }
    own(client, std::move(cores));
  }

  // ---- shared cores ----

  void settle_on_cores(Client& client, Cores cores) {
    client.is_settled = true;
    client.cores = std::move(cores);
    std::vector<bool> touched(caches_.size());
    for (const CoreIndex core : client.cores) {
      touched[cores_[core].cache] = true;
    }
    for (CacheIndex cache = 0; cache < caches_.size(); ++cache) {
      if (touched[cache]) {
        note(client, cache, client.wants_own() ? 0 : client.request.vcpus);
      }
    }
  }
  void note(const Client& client, CacheIndex index, std::int64_t vcpus) {
    Cache& cache = caches_[index];
    cache.has_latency = cache.has_latency || client.is(CpuClass::kLatency);
    cache.has_batch = cache.has_batch || client.is(CpuClass::kBatch);
    cache.vcpus += vcpus;
    cache.load += client.request.load;
  }

  [[nodiscard]] std::int64_t shared_cpus(CacheIndex cache) const {
    return sum_of(caches_[cache].cores, [&](CoreIndex core) {
      return cores_[core].owner ? 0 : static_cast<std::int64_t>(cores_[core].cpus.size());
    });
  }
  [[nodiscard]] bool fits(const Client& client, CacheIndex cache) const {
    return client.request.vcpus <= shared_cpus(cache);
  }

  void settle_in_cache(Client& client, std::optional<CacheIndex> cache) {
    client.is_settled = true;
    client.cache = cache;
    if (cache) {
      note(client, *cache, client.request.vcpus);
    }
  }

  /// Returns the cache that all its former CPUs share.
  [[nodiscard]] std::optional<CacheIndex> former_cache(const Client& client) const {
    std::optional<CacheIndex> found;
    for (const Core& core : cores_) {
      for (const CpuId cpu : core.cpus) {
        if (std::ranges::binary_search(client.former, cpu)) {
          if (found && *found != core.cache) {
            return std::nullopt;
          }
          found = core.cache;
        }
      }
    }
    return found;
  }

  [[nodiscard]] std::size_t need_shared(const Client& client) const {
    return std::min(need(client), shared_cores());
  }

  void keep_shares() {
    for (Client& client : clients_) {
      if (client.shares_cores()) {
        const std::size_t count = need_shared(client);
        Cores cores = former_cores(client, count);
        const bool alone = std::ranges::all_of(
            cores, [&](CoreIndex core) { return is_unused(cores_[core], client); });
        // It shares cores that others have picked only as long as it must.
        if (!alone && !pick(client, count, [&](const Core& core) {
                         return is_unused(core, client);
                       }).empty()) {
          cores.clear();
        }
        if (!cores.empty()) {
          settle_on_cores(client, std::move(cores));
        } else {
          client.former.clear();
        }
      } else if (client.shares()) {
        const std::optional<CacheIndex> cache = former_cache(client);
        if (cache && fits(client, *cache)) {
          settle_in_cache(client, cache);
        }
      }
    }
  }

  void give_shares(CpuClass cpu_class) {
    for (Client& client : clients_) {
      if (client.shares() && client.is(cpu_class) && !client.is_settled) {
        if (client.shares_cores()) {
          settle_on_cores(client, choose_cores(client));
        } else {
          settle_in_cache(client, choose_cache(client));
        }
      }
    }
  }

  [[nodiscard]] bool is_latency_core(const Core& core) const {
    return std::ranges::any_of(clients_, [&](const Client& client) {
      return client.is(CpuClass::kLatency) &&
             std::ranges::binary_search(client.cores, index_of(core));
    });
  }

  [[nodiscard]] Cores choose_cores(const Client& client) const {
    const std::size_t count = need_shared(client);
    if (client.is(CpuClass::kBatch)) {
      if (Cores cores = cores_off_ground(client); !cores.empty()) {
        return cores;
      }
    }
    Cores cores = pick(client, count, [&](const Core& core) { return is_unused(core, client); });
    return cores.empty() ? least_used(client, count) : cores;
  }
  /// When cores run out, returns the unused ones that are left, and of the others those with the
  /// fewest users.
  [[nodiscard]] Cores least_used(const Client& client, std::size_t count) const {
    Cores cores;
    for (const CacheIndex cache : caches_for(client)) {
      for (const CoreIndex core : caches_[cache].cores) {
        if (!cores_[core].owner) {
          cores.push_back(core);
        }
      }
    }
    std::ranges::stable_sort(cores, [&](CoreIndex a, CoreIndex b) {
      return users(cores_[a], client) < users(cores_[b], client);
    });
    cores.resize(count);
    std::ranges::sort(cores);
    return cores;
  }
  [[nodiscard]] std::size_t users(const Core& core, const Client& by) const {
    return static_cast<std::size_t>(std::ranges::count_if(clients_, [&](const Client& other) {
      return &other != &by && other.is_settled &&
             std::ranges::binary_search(other.cores, index_of(core));
    }));
  }

  /// Returns unused cores in caches without latency clients.
  [[nodiscard]] Cores cores_off_ground(const Client& client) const {
    return pick(client, need_shared(client), [&](const Core& core) {
      return is_unused(core, client) && !caches_[core.cache].has_latency;
    });
  }

  [[nodiscard]] std::optional<CacheIndex> choose_cache(const Client& client) const {
    for (const CacheIndex cache : caches_for(client)) {
      if (fits(client, cache)) {
        return cache;
      }
    }
    return std::nullopt;
  }

  /// Moves batch clients off the places that they kept among latency clients, if they can.
  void leave_ground() {
    for (Client& client : clients_) {
      if (!client.is(CpuClass::kBatch) || !client.shares() || !client.is_settled) {
        continue;
      }
      if (client.shares_cores()) {
        const bool disturbs = std::ranges::any_of(
            client.cores, [&](CoreIndex core) { return caches_[cores_[core].cache].has_latency; });
        if (Cores cores = disturbs ? cores_off_ground(client) : Cores{}; !cores.empty()) {
          client.cores = std::move(cores);
        }
      } else if (client.cache && caches_[*client.cache].has_latency) {
        for (CacheIndex cache = 0; cache < caches_.size(); ++cache) {
          const bool has_place = caches_[cache].vcpus + client.request.vcpus <= shared_cpus(cache);
          if (!caches_[cache].has_latency && has_place) {
            caches_[*client.cache].vcpus -= client.request.vcpus;
            settle_in_cache(client, cache);
            break;
          }
        }
      }
    }
  }

  // ---- result ----

  [[nodiscard]] std::vector<CpuId> cpus_of(const Client& client) const {
    if (!client.cores.empty()) {
      return cpus_on(client.cores, threads_of(client, client.cores.size()));
    }
    const auto is_its = [&](const Core& core) {
      return !core.owner && (!client.cache || core.cache == *client.cache);
    };
    std::vector<CpuId> cpus = cpus_that(is_its);
    if (!client.is(CpuClass::kBatch)) {
      return cpus;
    }
    const std::int64_t least = batch_vcpus_beside(client);
    std::vector<CpuId> off_caches = cpus_that(
        [&](const Core& core) { return is_its(core) && !caches_[core.cache].has_latency; });
    if (static_cast<std::int64_t>(off_caches.size()) >= least) {
      return off_caches;
    }
    std::vector<CpuId> off_cores =
        cpus_that([&](const Core& core) { return is_its(core) && !is_latency_core(core); });
    return static_cast<std::int64_t>(off_cores.size()) >= least ? off_cores : cpus;
  }

  template <class Passes>
  [[nodiscard]] std::vector<CpuId> cpus_that(Passes passes) const {
    std::vector<CpuId> cpus;
    for (const Core& core : cores_) {
      if (passes(core)) {
        cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
      }
    }
    std::ranges::sort(cpus);
    return cpus;
  }

  /// Returns the vCPUs of all batch clients that have the same CPUs to share, its own included.
  [[nodiscard]] std::int64_t batch_vcpus_beside(const Client& client) const {
    std::int64_t vcpus = 0;
    for (const Client& other : clients_) {
      if (other.is(CpuClass::kBatch) && other.cores.empty() && other.cache == client.cache) {
        vcpus += other.request.vcpus;
      }
    }
    return vcpus;
  }

  const Node& node_;
  std::vector<Core> cores_;
  std::vector<Cache> caches_;
  std::vector<Client> clients_;
};

}  // namespace

std::vector<CpuGrant> assign_cpus(const Node& node, const std::vector<CpuRequest>& requests,
                                  const FormerCpus& former) {
  std::vector<CpuGrant> grants = Assigner(node, requests, former).assign();
  // What one client gave up may be better for another; few hosts need a second pass.
  for (int look = 0; look < kMostLooks; ++look) {
    FormerCpus now;
    for (const CpuGrant& grant : grants) {
      now[grant.client] = {grant.cpus, grant.exclusive_cores > 0};
    }
    std::vector<CpuGrant> again = Assigner(node, requests, now).assign();
    if (again == grants) {
      break;
    }
    grants = std::move(again);
  }
  return grants;
}

}  // namespace vmnuma
