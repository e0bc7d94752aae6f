// SPDX-License-Identifier: Apache-2.0
#include "migration/room_book.h"

#include <algorithm>

#include "migration/pacing.h"

namespace vmnuma::migration {

namespace {

constexpr Microseconds kReadingIsGoodFor{1'000'000};

}  // namespace

void RoomBook::promise(const Holder& holder, const std::vector<RoomNeed>& needs) {
  std::map<Place, RoomNeed>& promised = accounts_[holder].promised;
  promised.clear();
  for (const RoomNeed& need : needs) {
    promised[{need.node, need.pool}] = need;
  }
}

void RoomBook::arrived(const Holder& holder, NodeId from, NodeId to, Bytes pool, Bytes size) {
  const auto account = accounts_.find(holder);
  if (account == accounts_.end()) {
    return;
  }
  std::map<Place, RoomNeed>& promised = account->second.promised;
  if (const auto entry = promised.find({to, pool}); entry != promised.end()) {
    entry->second.in = std::max(Bytes{}, entry->second.in - size);
  }
  if (const auto entry = promised.find({from, pool}); entry != promised.end()) {
    entry->second.out = std::max(Bytes{}, entry->second.out - size);
  }
}

void RoomBook::release(const Holder& holder) {
  accounts_.erase(holder);
}

void RoomBook::release(std::int64_t action) {
  std::erase_if(accounts_, [action](const auto& entry) { return entry.first.action == action; });
}

void RoomBook::record_reading(NodeId node, const NodeMemory& memory, Permille reserve,
                              Microseconds now) {
  Reading reading{
      .room = {{Bytes{}, room_on(memory, Bytes{}, reserve)}}, .moved_since = {}, .at = now};
  for (const PoolFree& pool : memory.pools) {
    reading.room[pool.page_size] = room_on(memory, pool.page_size, reserve);
  }
  readings_[node] = std::move(reading);
}

std::optional<Bytes> RoomBook::room_for(const Holder& holder, NodeId node, Bytes pool, Bytes size,
                                        Microseconds now) const {
  const auto found = readings_.find(node);
  if (found == readings_.end() || now - found->second.at > kReadingIsGoodFor) {
    return std::nullopt;
  }
  const Reading& reading = found->second;
  const auto moved = reading.moved_since.find(pool);
  const Bytes since = moved == reading.moved_since.end() ? Bytes{} : moved->second;
  if (since > Bytes{} && since + size > kLargestChunk) {
    return std::nullopt;
  }
  const auto room = reading.room.find(pool);
  const Bytes had = room == reading.room.end() ? Bytes{} : room->second;
  return std::max(Bytes{}, had - since - claimed_by_others(holder, {node, pool}));
}

void RoomBook::grant(const Holder& holder, NodeId node, Bytes pool, Bytes size) {
  accounts_[holder].granted = Grant{{node, pool}, size};
}

void RoomBook::settle(const Holder& holder, NodeId node, Bytes pool, Bytes size) {
  if (const auto account = accounts_.find(holder); account != accounts_.end()) {
    account->second.granted.reset();
  }
  if (const auto reading = readings_.find(node); reading != readings_.end()) {
    reading->second.moved_since[pool] += size;
  }
}

Bytes RoomBook::claimed_by_others(const Holder& holder, const Place& place) const {
  struct Sums {
    Bytes promised;  ///< in less out
    Bytes granted;
  };
  std::map<std::int64_t, Sums> by_action;
  for (const auto& [other, account] : accounts_) {
    Sums& sums = by_action[other.action];
    if (const auto entry = account.promised.find(place);
        entry != account.promised.end() && other.action != holder.action) {
      sums.promised += entry->second.in - entry->second.out;
    }
    if (account.granted && account.granted->place == place && other != holder) {
      sums.granted += account.granted->size;
    }
  }
  Bytes claimed;
  for (const auto& [action, sums] : by_action) {
    claimed += std::max(sums.promised, sums.granted);
  }
  return claimed;
}

PromisedRoom RoomBook::promised_to_others(std::int64_t action) const {
  const Holder nobody{.action = action, .vm = {}};
  PromisedRoom promised;
  for (const auto& [holder, account] : accounts_) {
    for (const auto& [place, need] : account.promised) {
      promised[place] = claimed_by_others(nobody, place);
    }
    if (account.granted) {
      promised[account.granted->place] = claimed_by_others(nobody, account.granted->place);
    }
  }
  return promised;
}

}  // namespace vmnuma::migration
