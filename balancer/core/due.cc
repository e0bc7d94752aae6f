// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/due.h"

#include <algorithm>
#include <vector>

namespace vmnuma::balancer {

using placement::ClientState;
using placement::CpuTime;
using placement::Snapshot;

namespace {

/// What all clients were owed in the epochs before this one, newest first, as far as it is
/// remembered.
std::vector<CpuTime> owed_before(const Snapshot& snapshot) {
  std::vector<CpuTime> owed;
  for (const ClientState& client : snapshot.clients) {
    owed.resize(std::max(owed.size(), client.owed_before.size()));
    for (std::size_t i = 0; i < client.owed_before.size(); ++i) {
      owed[i] += client.owed_before[i];
    }
  }
  return owed;
}

}  // namespace

bool is_due_for_load(const Snapshot& snapshot, std::int64_t interval) {
  if (interval <= 0 || epoch_is_due(snapshot.epoch, interval)) {
    return interval > 0;
  }
  CpuTime now;
  for (const ClientState& client : snapshot.clients) {
    now += client.owed;
  }
  const auto is_much = [now](CpuTime owed) { return owed * 2 > now; };
  const std::vector<CpuTime> before = owed_before(snapshot);
  const auto last_due = static_cast<std::size_t>(snapshot.epoch % interval) - 1;
  return now > CpuTime{} && last_due < before.size() && !is_much(before[last_due]) &&
         std::any_of(before.begin() + static_cast<std::ptrdiff_t>(last_due) + 1, before.end(),
                     is_much);
}

}  // namespace vmnuma::balancer
