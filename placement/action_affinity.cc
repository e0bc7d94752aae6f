// SPDX-License-Identifier: Apache-2.0
#include "placement/action_affinity.h"

#include <algorithm>

namespace vmnuma {

namespace {

/// Unit of the weight: 10 ns.
constexpr std::int64_t kUnitsPerSecond = 100'000'000;

/// Talks before the limit is applied.
std::vector<std::vector<Talk>> unlimited_talks(const Snapshot& snapshot, std::int64_t weight) {
  std::vector<std::vector<Talk>> talks(snapshot.clients.size());
  for (const Chat& chat : snapshot.chats) {
    const VmState* a = find_vm(snapshot, chat.a);
    const VmState* b = find_vm(snapshot, chat.b);
    if (a == nullptr || b == nullptr || a == b || a->client_count == 0 || b->client_count == 0) {
      continue;
    }
    const CpuTime of_pair =
        scaled(snapshot.epoch_length, chat.rate.value * weight, kUnitsPerSecond) /
        static_cast<std::int64_t>(a->client_count * b->client_count);
    if (of_pair <= CpuTime{}) {
      continue;
    }
    for (ClientIndex one = a->first_client; one < a->end_client(); ++one) {
      for (ClientIndex other = b->first_client; other < b->end_client(); ++other) {
        talks[one].push_back({other, of_pair});
        talks[other].push_back({one, of_pair});
      }
    }
  }
  return talks;
}

}  // namespace

std::vector<std::vector<Talk>> talks_of(const Snapshot& snapshot, const Options& options) {
  if (snapshot.chats.empty() || options.locality_weight_action_affinity == 0 ||
      options.action_affinity_max == 0) {
    return {};
  }
  std::vector<std::vector<Talk>> talks =
      unlimited_talks(snapshot, options.locality_weight_action_affinity);
  std::vector<CpuTime> most;
  std::vector<CpuTime> all;
  for (ClientIndex client = 0; client < talks.size(); ++client) {
    most.push_back(snapshot.epoch_length * snapshot.clients[client].vcpu_count() *
                   options.action_affinity_max / 100);
    all.push_back(sum_of(talks[client], &Talk::lost_apart));
  }
  const auto limited = [&](CpuTime lost, ClientIndex client) {
    return all[client] > most[client] ? scaled(lost, most[client].value, all[client].value) : lost;
  };
  for (ClientIndex client = 0; client < talks.size(); ++client) {
    for (Talk& talk : talks[client]) {
      talk.lost_apart =
          std::min(limited(talk.lost_apart, client), limited(talk.lost_apart, talk.with));
    }
    std::erase_if(talks[client], [](const Talk& talk) { return talk.lost_apart == CpuTime{}; });
    std::ranges::sort(talks[client], {}, &Talk::with);
  }
  return talks;
}

}  // namespace vmnuma
