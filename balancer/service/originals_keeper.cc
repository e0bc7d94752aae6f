// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/originals_keeper.h"

#include <utility>

#include "balancer/service/remembered.h"

namespace vmnuma::balancer {

namespace {

constexpr std::chrono::hours kKeptEvery{1};

}  // namespace

void OriginalsKeeper::keep_if_due(Time now, const Controller& controller) {
  const Ledger& ledger = controller.ledger();
  if (now - kept_at_ < kKeptEvery || !ledger.knows_domains()) {
    return;
  }
  kept_at_ = now;
  Originals originals = controller.to_resume().originals;
  std::erase_if(originals,
                [&ledger](const auto& entry) { return ledger.find(entry.first) == nullptr; });
  history_.write([originals = std::move(originals)](stats::History& history) {
    return keep_in(history, originals);
  });
}

}  // namespace vmnuma::balancer
