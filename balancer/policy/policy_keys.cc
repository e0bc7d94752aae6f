// SPDX-License-Identifier: Apache-2.0
#include "balancer/policy/policy_keys.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "balancer/policy/value_text.h"
#include "placement/base/mapped.h"
#include "placement/model/device_names.h"
#include "placement/model/suggest.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

constexpr std::int64_t kMostVcpus = 4096;

Result<void> set_nodes(VmPolicy& policy, std::string_view text) {
  if (text.empty()) {
    policy.nodes.clear();
    return {};
  }
  auto nodes = parse_node_list(text);
  if (!nodes || nodes->empty()) {
    return refuse("is " + in_quotes(text) + ", but must be a list of nodes such as '0-1,3'");
  }
  policy.nodes = std::move(*nodes);
  return {};
}

Result<void> set_anti_affinity(VmPolicy& policy, std::string_view text) {
  if (text != "soft" && text != "hard") {
    return refuse("is " + in_quotes(text) + ", but must be 'soft' or 'hard'");
  }
  policy.anti_affinity_hard = text == "hard";
  return {};
}

Result<void> set_reservation(VmPolicy& policy, std::string_view text) {
  std::int32_t per_cent = 0;
  VMNUMA_RETURN_IF_ERROR(set_number(per_cent, text, 0, 100));
  policy.reservation_permille = per_cent * 10;
  return {};
}

Result<void> set_device_pools(VmPolicy& policy, std::string_view text) {
  const std::string_view all = text;
  std::vector<std::string> pools;
  while (!text.empty()) {
    const std::string_view name = take_part(text, ',');
    if (!is_pool_name(name)) {
      return refuse("is " + in_quotes(all) +
                    ", but must be names of pools such as 'gpu,vf', of letters, digits, '-', '_' "
                    "and '.'");
    }
    pools.emplace_back(name);
  }
  policy.device_pools = std::move(pools);
  return {};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + name;
  }
  return text;
}

constexpr KeyInfo<VmPolicy> kPolicy[] = {
    {"nodes", KeyKind::kText, "a list of nodes such as 0-1,3; empty = all",
     "The nodes that the VM may use", set_nodes,
     [](const VmPolicy& policy) { return to_list(policy.nodes); }},
    choice_key<&VmPolicy::memory_mode>(
        "memory_mode",
        "soft moves pages and lets memory spill, mask also limits the VM's memory to its home "
        "nodes, hands-off never touches it"),
    switch_key<&VmPolicy::do_not_move>("do_not_move",
                                       "true places the VM once and leaves it there"),
    switch_key<&VmPolicy::prefer_ht>(
        "prefer_ht", "true sizes the VM's clients by a node's threads instead of its cores"),
    number_key<&VmPolicy::max_per_node, 0, kMostVcpus>(
        "max_per_node", "0 to 4096",
        "Most vCPUs of the VM on one node, if it may use enough nodes for that; cannot be combined "
        "with topology_policy single-numa-node; 0 = as many as the node has room for"),
    number_key<&VmPolicy::max_per_client, 0, kMostVcpus>(
        "max_per_client", "0 to 4096", "Most vCPUs of one client of the VM; 0 = as max_per_node"),
    switch_key<&VmPolicy::consolidate>("consolidate",
                                       "true keeps the fewest clients even if memory spills to "
                                       "another node, false splits by memory as well"),
    text_key<&VmPolicy::affinity_group>("affinity_group", "a name, or nothing",
                                        "VMs with the same name are brought together on a node"),
    text_key<&VmPolicy::anti_affinity_group>("anti_affinity_group", "a name, or nothing",
                                             "VMs with the same name are kept on different nodes"),
    {"anti_affinity", KeyKind::kText, "soft or hard",
     "hard never lets two VMs of the group share a node, soft only if the alternative costs more",
     set_anti_affinity,
     [](const VmPolicy& policy) {
       return std::string(policy.anti_affinity_hard ? "hard" : "soft");
     }},
    {"reservation", KeyKind::kNumber, "0 to 100",
     "CPU time the VM is guaranteed, in per cent of its vCPUs' full speed", set_reservation,
     [](const VmPolicy& policy) { return std::to_string(policy.reservation_permille / 10); }},
    choice_key<&VmPolicy::topology_policy>(
        "topology_policy",
        "Whether the VM's CPUs, memory and devices are kept together, as with the kubelet: "
        "best-effort starts it on the fewest nodes that have all of it free, and elsewhere if "
        "there are none; restricted refuses it unless these are as few as this host could ever "
        "give it; single-numa-node refuses it unless one node has all; none does not check"),
    choice_key<&VmPolicy::topology_scope>(
        "topology_scope",
        "What topology_policy keeps together: vm the whole VM, client each of its clients by "
        "itself, so that a VM with guest NUMA cells may start where each cell fits; they "
        "correspond to the kubelet's pod and container"),
    switch_key<&VmPolicy::prefer_closest_numa_nodes>(
        "prefer_closest_numa_nodes",
        "With true, a best-effort or restricted VM starts on nodes near each other, if several "
        "choices are equally few nodes"),
    number_key<&VmPolicy::max_allowable_numa_nodes, 0, 1024>(
        "max_allowable_numa_nodes", "0 to 1024",
        "On a host with more nodes than this, topology_policy keeps nothing together: a restricted "
        "or single-numa-node VM does not start, and best-effort has no effect; 0 = no limit"),
    number_key<&VmPolicy::locality_weight_pct, 0, 1000>(
        "locality_weight", "0 to 1000",
        "What remote memory costs this VM, in per cent of what it is estimated to cost others"),
    choice_key<&VmPolicy::device_locality>(
        "device_locality",
        "strict keeps the VM on the nodes of its devices: passed-through PCI and mediated devices, "
        "adapters behind its vhost and vDPA interfaces, and controllers of its disks; socket keeps "
        "it on nodes of the same sockets; preferred starts it near its passed-through devices "
        "unless that loses CPU time, and near adapters and controllers if nothing else makes a "
        "difference; none ignores where they are"),
    choice_key<&VmPolicy::strategy>(
        "strategy",
        "Which of the nodes with room the VM starts on: least-lost-time where it costs the host "
        "least; MostAllocated and LeastAllocated where the most or fewest CPUs are already taken "
        "by VMs; DistributeEvenly spreads a wide VM's clients; host as the placement strategy in "
        "vmnuma.toml says"),
    choice_key<&VmPolicy::cpu_binding>(
        "cpu_binding",
        "Which CPUs of its home the VM runs on: node all that no other VM has to itself; share "
        "those among them that share one last-level cache, if it fits there; exclusive physical "
        "cores of its own"),
    choice_key<&VmPolicy::cpu_policy>(
        "cpu_policy",
        "How many cores a VM with cpu_binding share or exclusive takes: FullPCPUs as few whole "
        "cores as hold its vCPUs; SpreadByPCPUs one core for each vCPU, and one thread of each; "
        "none all cores with share, and the same as FullPCPUs with exclusive"),
    choice_key<&VmPolicy::cpu_class>("class",
                                     "batch keeps the VM off the caches and cores of latency VMs "
                                     "on its node while there are others"),
    choice_key<&VmPolicy::memory_class>(
        "memory_class",
        "guaranteed keeps all of the VM's memory, whatever others want; burstable keeps it as long "
        "as other memory can be taken; best-effort is the first to give memory back; none leaves "
        "its limits alone (limits are set only with Numa.MemQosEnable; room is kept for guaranteed "
        "VMs in any case)"),
    choice_key<&VmPolicy::make_room>(
        "make_room",
        "What happens when the VM starts and topology_policy finds no node with room for it: "
        "advise adds to the refusal whether moving other VMs could help; before-start moves them "
        "while the start waits; never does neither"),
    number_key<&VmPolicy::make_room_deadline_s, 0, kLongestWaitForRoom_s>(
        "make_room_deadline_s", "0 to 120",
        "How many seconds the start of a VM with make_room = before-start may wait; 0 = not at "
        "all"),
    number_key<&VmPolicy::priority, -kMostPriority, kMostPriority>(
        "priority", "-1000 to 1000",
        "How important the VM is when room is made for another one: VMs of lower priority are "
        "moved first; none is stopped"),
    text_key<&VmPolicy::owner>(
        "owner", "a name, or nothing",
        "The owner of the VM, for whom room may be reserved (vmnuma reserve --for-owner); if "
        "empty, the project that OpenStack's Nova names in the metadata, by name or UUID"),
    {"device_pool", KeyKind::kText, "names of pools, such as gpu,gpu,vf; or nothing",
     "The pools (device_pool in vmnuma.toml) that the VM gets devices from, one for each time that "
     "a pool is named; vmnuma advise chooses them",
     set_device_pools, [](const VmPolicy& policy) { return joined(policy.device_pools); }},
};

/// Returns the place of a key in the table; after all others if it is not in the table.
std::size_t place_of(std::string_view name) {
  const KeyInfo<VmPolicy>* key = find_key(policy_keys(), name);
  return key == nullptr ? std::size(kPolicy) : static_cast<std::size_t>(key - kPolicy);
}

}  // namespace

std::span<const KeyInfo<VmPolicy>> policy_keys() {
  return kPolicy;
}

Result<void> set_policy_key(VmPolicy& policy, std::string_view name, std::string_view text) {
  const KeyInfo<VmPolicy>* key = find_key(policy_keys(), name);
  if (key == nullptr) {
    const auto names = names_of(policy_keys());
    std::string message =
        "there is no policy " + in_quotes(name) + did_you_mean(name, names) + " (valid are ";
    for (const std::string_view one : names) {
      message += one;
      message += one == names.back() ? ")" : ", ";
    }
    return failure(ErrorCode::kNotFound, std::move(message));
  }
  if (auto set = key->set(policy, text); !set) {
    return failure(ErrorCode::kInvalidArgument, in_quotes(name) + " " + set.error().message);
  }
  return {};
}

Result<void> check_device_pools(const VmPolicy& policy, const std::vector<DevicePool>& pools) {
  const auto names = mapped<std::string_view>(pools, &DevicePool::name);
  for (const std::string& name : policy.device_pools) {
    if (std::ranges::find(names, name) == names.end()) {
      return failure(ErrorCode::kInvalidArgument, "'device_pool' names " + in_quotes(name) +
                                                      ", but vmnuma.toml has no such pool" +
                                                      did_you_mean(name, names));
    }
  }
  return {};
}

Result<void> check_policy(const VmPolicy& policy) {
  if (policy.max_per_node > 0 && policy.topology_policy == TopologyPolicy::kSingleNumaNode &&
      policy.topology_scope == TopologyScope::kVm) {
    return refuse(
        "'max_per_node' divides the VM among nodes, but 'topology_policy' single-numa-node keeps "
        "it on one; they can be combined only with 'topology_scope' client");
  }
  return {};
}

Result<VmPolicy> with_settings(const VmPolicy& base, const std::vector<PolicySetting>& settings) {
  VmPolicy policy = base;
  for (const PolicySetting& setting : settings) {
    VMNUMA_RETURN_IF_ERROR(set_policy_key(policy, setting.key, setting.value));
  }
  VMNUMA_RETURN_IF_ERROR(check_policy(policy));
  return policy;
}

std::vector<PolicySetting> changed_settings(std::vector<PolicySetting> settings,
                                            const std::vector<PolicySetting>& changes) {
  for (const PolicySetting& change : changes) {
    std::erase_if(settings,
                  [&](const PolicySetting& setting) { return setting.key == change.key; });
    if (!change.value.empty()) {
      settings.push_back(change);
    }
  }
  std::ranges::stable_sort(settings, {},
                           [](const PolicySetting& one) { return place_of(one.key); });
  return settings;
}

}  // namespace vmnuma::balancer
