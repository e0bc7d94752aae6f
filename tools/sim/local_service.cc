// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/local_service.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace vmnuma::tools {

namespace {

constexpr std::int64_t kMostSolverSteps = 2000;

/// Maximizes weighted near time, in thousandths of a microsecond: the saving compared with all time
/// being far.
class HomesSearch {
 public:
  HomesSearch(const std::vector<LocalClient>& clients, std::vector<CpuTime> rooms)
      : clients_(clients), rooms_(std::move(rooms)) {}

  [[nodiscard]] std::int64_t most_saved() {
    const std::int64_t in_pieces = saved_in_pieces(0);
    descend(0, 0);
    return steps_ > kMostSolverSteps ? in_pieces : best_;
  }

 private:
  /// Returns what the clients from `first` on would save if each could be on many nodes at once,
  /// but had no more near time than one node has room for.
  [[nodiscard]] std::int64_t saved_in_pieces(std::size_t first) const {
    CpuTime left = sum_of(rooms_);
    const CpuTime widest = rooms_.empty() ? CpuTime{} : std::ranges::max(rooms_);
    std::int64_t saved = 0;
    for (std::size_t i = first; i < clients_.size(); ++i) {
      const CpuTime here = std::min({clients_[i].near_most, widest, left});
      left -= here;
      saved += here.value * clients_[i].far_cost.value;
    }
    return saved;
  }

  void descend(std::size_t client, std::int64_t saved) {
    best_ = std::max(best_, saved);
    if (client == clients_.size() || saved + saved_in_pieces(client) <= best_ ||
        ++steps_ > kMostSolverSteps) {
      return;
    }
    // First the smallest room that holds the whole client, then the largest.
    std::vector<std::size_t> nodes(rooms_.size());
    std::iota(nodes.begin(), nodes.end(), std::size_t{0});
    const CpuTime most = clients_[client].near_most;
    std::ranges::stable_sort(nodes, {}, [&](std::size_t node) {
      const bool holds = rooms_[node] >= most;
      return std::pair(!holds, holds ? rooms_[node] : -rooms_[node]);
    });
    std::vector<CpuTime> tried;
    for (const std::size_t node : nodes) {
      const CpuTime room = rooms_[node];
      if (std::ranges::find(tried, room) != tried.end()) {
        continue;
      }
      tried.push_back(room);
      const CpuTime here = std::min(most, room);
      rooms_[node] -= here;
      descend(client + 1, saved + here.value * clients_[client].far_cost.value);
      rooms_[node] = room;
    }
  }

  const std::vector<LocalClient>& clients_;
  std::vector<CpuTime> rooms_;
  std::int64_t best_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace

CpuTime least_far_loss(std::vector<LocalClient> clients, std::vector<CpuTime> rooms) {
  std::erase_if(clients, [](const LocalClient& client) {
    return client.far_cost.value == 0 || client.wants.value <= 0;
  });
  // A client with a higher cost never gives way to one with a lower cost, so what a node gives to
  // it does not depend on the order of the others.
  std::ranges::stable_sort(clients, std::ranges::greater{}, [](const LocalClient& client) {
    return std::pair(client.far_cost, client.near_most);
  });
  std::int64_t all_far = 0;
  for (const LocalClient& client : clients) {
    all_far += client.wants.value * client.far_cost.value;
  }
  const std::int64_t saved = HomesSearch(clients, std::move(rooms)).most_saved();
  return CpuTime{std::max<std::int64_t>(all_far - saved, 0) / 1000};
}

}  // namespace vmnuma::tools
