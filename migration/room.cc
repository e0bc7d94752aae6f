// SPDX-License-Identifier: Apache-2.0
#include "migration/room.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "migration/destinations.h"
#include "migration/outcome.h"
#include "migration/pacing.h"

namespace vmnuma::migration {

std::vector<RoomNeed> room_needs(const std::vector<NodeQuota>& quotas,
                                 const std::vector<MemoryRange>& ranges) {
  std::map<Bytes, std::map<NodeId, Bytes>> pools;
  for (const MemoryRange& range : ranges) {
    if (!range.policy.empty()) {
      continue;
    }
    for (const NodeBytes& part : range.resident) {
      pools[range.hugetlb ? range.page_size : Bytes{}][part.node] += part.bytes;
    }
  }
  std::vector<RoomNeed> needs;
  for (auto& [pool, now] : pools) {
    Bytes total;
    for (const auto& [node, bytes] : now) {
      total += bytes;
    }
    const std::vector<Bytes> shares = share_out(quotas, total);
    std::map<NodeId, Bytes> goals;
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      const bool limited = quotas[i].bytes > Bytes{};
      goals[quotas[i].node] = limited ? std::min(shares[i], quotas[i].bytes) : shares[i];
      now.try_emplace(quotas[i].node);
    }
    for (const auto& [node, bytes] : now) {
      const Bytes change = goals[node] - bytes;
      if (change != Bytes{}) {
        needs.push_back({node, pool, std::max(change, Bytes{}), std::max(-change, Bytes{})});
      }
    }
  }
  return needs;
}

Bytes room_on(const NodeMemory& node, Bytes pool, Permille reserve) {
  if (pool > Bytes{}) {
    for (const PoolFree& free : node.pools) {
      if (free.page_size == pool) {
        return pool * free.pages;
      }
    }
    return {};
  }
  return std::max(Bytes{}, node.available - node.total / 1000 * reserve.value);
}

std::optional<std::string> why_no_room(const std::vector<RoomNeed>& needs,
                                       const std::map<NodeId, NodeMemory>& nodes, Permille reserve,
                                       const PromisedRoom& promised) {
  std::map<std::pair<Bytes, NodeId>, RoomNeed> sums;
  for (const RoomNeed& need : needs) {
    RoomNeed& sum = sums[{need.pool, need.node}];
    sum.in += need.in;
    sum.out += need.out;
  }
  std::set<Bytes> pools_that_wait;
  std::set<Bytes> pools_that_begin;
  for (const auto& [key, sum] : sums) {
    const auto& [pool, node] = key;
    if (sum.in <= Bytes{}) {
      continue;
    }
    const auto memory = nodes.find(node);
    const auto others = promised.find({node, pool});
    const Bytes to_others = others == promised.end() ? Bytes{} : others->second;
    const Bytes above_reserve =
        memory == nodes.end() ? Bytes{} : room_on(memory->second, pool, reserve);
    const Bytes room = std::max(Bytes{}, above_reserve - to_others);
    const std::string kind =
        pool > Bytes{} ? fmt::format(" in huge pages of {}", to_text(pool)) : std::string{};
    if (sum.in - sum.out > room) {
      return fmt::format("node {} has room for {}{} above its reserve{}, {} are needed", node.value,
                         to_text(room), kind,
                         to_others > Bytes{}
                             ? fmt::format(" beside {} promised to other moves", to_text(to_others))
                             : "",
                         to_text(sum.in - sum.out));
    }
    const bool begins = room >= std::min(sum.in, std::max(kSmallestChunk, pool));
    (begins ? pools_that_begin : pools_that_wait).insert(pool);
  }
  for (const Bytes pool : pools_that_wait) {
    if (!pools_that_begin.contains(pool)) {
      return std::string(
          "no node has room above its reserve for even a first part of the exchange");
    }
  }
  return std::nullopt;
}

}  // namespace vmnuma::migration
