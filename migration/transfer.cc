// SPDX-License-Identifier: Apache-2.0
#include "migration/transfer.h"

#include <algorithm>
#include <utility>

namespace vmnuma::migration {

namespace {

constexpr std::int64_t kMostPasses = 3;

}  // namespace

Transfer::Transfer(VmProcess process, MemoryChange change, RoomBook& room,
                   const RoomBook::Holder& holder)
    : state_{.process = process,
             .parts = MemoryParts(std::move(change)),
             .scan = {},
             .setbacks = {},
             .outcome = {},
             .moved_in_pass = {}},
      moves_(room, holder) {}

bool Transfer::between_windows() const {
  return phase_ == Phase::kQuery || phase_ == Phase::kFinished || waits_for_room();
}

Bytes Transfer::remaining() const {
  if (!surveyed() || finished()) {
    return outcome().left;
  }
  return moves_.planned() + bound_by_policy_ + state_.parts.remaining();
}

TransferStep Transfer::step(PageMover& mover, const Limits& limits, Microseconds now,
                            Bytes allowed) {
  VMNUMA_CHECK(state_.parts.has_homes());
  TransferStep done;
  switch (phase_) {
    case Phase::kSurvey:
      survey(mover, now);
      break;
    case Phase::kQuery:
      done.moved = query(mover, now);
      break;
    case Phase::kReveal:
      reveal(mover, now);
      break;
    case Phase::kMove:
      done = moves_.step(state_, mover, limits, now, allowed);
      after_moves(now);
      break;
    case Phase::kFinished:
      break;
  }
  if (error() && !finished()) {
    finish();
  }
  return done;
}

void Transfer::survey(PageMover& mover, Microseconds now) {
  auto found = mover.find_ranges(state_.process);
  if (!state_.setbacks.record(found, Setbacks::Call::kRead, now)) {
    return;
  }
  begin_pass(state_.parts.take(std::move(*found)));
  if (!finished()) {
    next_window(now);
  }
}

void Transfer::begin_pass(MemoryParts::Survey survey) {
  Outcome& outcome = state_.outcome;
  bound_by_policy_ = survey.bound_by_policy;
  const Bytes left = remaining();
  if (pass_ == 0) {
    outcome.already_home = survey.total - left;
  }
  const bool nothing_to_do = left == bound_by_policy_;
  if (!nothing_to_do && pass_ > 0 && !another_pass_pays(left, survey.total)) {
    state_.count_left(Leftover::kUnseen, std::max(Bytes{}, left - outcome.unmovable()));
    finish();
    return;
  }
  outcome.left_by_reason = {};
  state_.count_left(Leftover::kPolicy, bound_by_policy_);
  if (nothing_to_do) {
    finish();
    return;
  }
  if (pass_ > 0) {
    for (PartRange& range : survey.ranges) {
      range.all_pages_on.reset();  // the pages left there are those that did not move
    }
  }
  ++pass_;
  state_.moved_in_pass = {};
  state_.scan = PageScan(std::move(survey.ranges));
}

bool Transfer::another_pass_pays(Bytes left, Bytes total) const {
  // Hidden pages, and pages that ended up elsewhere in the meantime, justify another pass only if
  // they are many.
  return pass_ < kMostPasses && state_.moved_in_pass > Bytes{} &&
         left - outcome().unmovable() > total / kMuch;
}

void Transfer::next_window(Microseconds now) {
  const std::optional<Microseconds> wait = state_.scan.next_window();
  phase_ = wait ? Phase::kQuery : Phase::kSurvey;
  if (wait && *wait > Microseconds{}) {
    state_.setbacks.wait_until(now + *wait);
  }
}

/// Returns the size of the pages that turned out to be home without having been moved.
Bytes Transfer::query(PageMover& mover, Microseconds now) {
  PageScan::Window& window = state_.scan.window();
  if (window.assumed) {
    return check_assumption(mover, now);
  }
  auto statuses = mover.query(state_.process, window.addresses);
  if (!state_.setbacks.record(statuses, Setbacks::Call::kRead, now)) {
    return {};
  }
  window.statuses = std::move(*statuses);
  if (!window.revealed && state_.scan.find_hidden()) {
    phase_ = Phase::kReveal;
    return {};
  }
  return move_window(now);
}

/// Presumes that all pages of the window are where the survey saw them, if the spot-checked ones
/// are.
Bytes Transfer::check_assumption(PageMover& mover, Microseconds now) {
  PageScan::Window& window = state_.scan.window();
  const auto statuses = mover.query(state_.process, spot_check(window.addresses));
  if (!state_.setbacks.record(statuses, Setbacks::Call::kRead, now)) {
    return {};
  }
  const int node = state_.scan.range().all_pages_on->value;
  window.assumed = std::all_of(statuses->begin(), statuses->end(),
                               [node](int status) { return status == node; });
  if (!window.assumed) {
    return {};  // every page is queried then
  }
  window.statuses.assign(window.addresses.size(), node);
  return move_window(now);
}

void Transfer::reveal(PageMover& mover, Microseconds now) {
  PageScan::Window& window = state_.scan.window();
  const auto revealed = mover.reveal(state_.process, window.hidden, window.hidden_unit);
  if (!state_.setbacks.record(revealed, Setbacks::Call::kRead, now)) {
    return;
  }
  window.revealed = true;
  phase_ = Phase::kQuery;
}

Bytes Transfer::move_window(Microseconds now) {
  const Bytes arrived = state_.scan.window().is_retry() ? count_retried() : Bytes{};
  if (state_.scan.is_last_look()) {
    next_window(now);
    return arrived;
  }
  moves_.begin(state_.scan.read(), state_);
  after_moves(now);
  return arrived;
}

/// Counts pages that need no further try: a page that could not be queued because its huge page
/// already was has come along with it, and others no longer exist. After the last round, those that
/// are still where they were are left there.
Bytes Transfer::count_retried() {
  const PageScan::Window& window = state_.scan.window();
  const PartRange& range = state_.scan.range();
  const Bytes page = range.memory.page_size;
  Bytes arrived;
  for (std::size_t i = 0; i < window.statuses.size(); ++i) {
    const PageScan::Retry& retry = window.retries[i];
    const NodeId now{window.statuses[i]};
    if (is_absent(window.statuses[i])) {
      state_.outcome.absent += page;
      state_.destinations().count_gone(retry.from, page);
    } else if (now != retry.from && state_.parts.is_home(range.part, now)) {
      arrived += page;
      state_.destinations().count_move(retry.from, now, page);
      moves_.record_arrival(retry.from, now, page, state_);
    } else if (state_.scan.is_last_look()) {
      state_.count_left(retry.reason, page);
    }
  }
  state_.count_moved(arrived);
  return arrived;
}

void Transfer::after_moves(Microseconds now) {
  if (moves_.done()) {
    next_window(now);
  } else {
    phase_ = Phase::kMove;
  }
}

void Transfer::retry_room(Microseconds now) {
  if (waits_for_room()) {
    moves_.retry_room(state_);
    after_moves(now);
  }
}

void Transfer::give_up_room(Microseconds now) {
  if (!waits_for_room()) {
    return;
  }
  std::vector<PageScan::Retry> again = moves_.give_up_room(state_);
  if (again.empty()) {
    next_window(now);
  } else {
    state_.scan.look_again(std::move(again));
    phase_ = Phase::kQuery;
  }
}

void Transfer::stop() {
  if (!finished()) {
    finish();
  }
}

void Transfer::finish() {
  state_.outcome.left = remaining();
  moves_.release();
  phase_ = Phase::kFinished;
}

}  // namespace vmnuma::migration
