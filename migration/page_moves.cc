// SPDX-License-Identifier: Apache-2.0
#include "migration/page_moves.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "placement/base/mapped.h"

namespace vmnuma::migration {

namespace {

void record_unqueued(TransferState& state, const PageQueue::NotQueued& not_queued) {
  for (const PageUnit& unit : not_queued.to_ask_about) {
    state.scan.ask_again(unit);
  }
  for (std::size_t reason = 0; reason < not_queued.left.size(); ++reason) {
    state.outcome.left_by_reason[reason] += not_queued.left[reason];
  }
}

/// Handles a page that was there when its move was planned and is now hidden or gone: it is looked
/// for once more.
void settle_absent(TransferState& state, const PageUnit& unit) {
  if (unit.may_be_huge) {
    state.scan.unsee(unit);
  } else {
    (void)state.scan.try_later(unit, Leftover::kUnseen);  // else the last survey finds it
  }
}

}  // namespace

PageQueue::Mapping PageMoves::mapping(TransferState& state) {
  const MemoryRange& memory = state.scan.range().memory;
  return {.destinations = state.destinations(),
          .pool = state.scan.pool(),
          .block = std::max(memory.huge_page_size, memory.page_size),
          .given_up = state.scan.given_up()};
}

void PageMoves::begin(std::vector<PageUnit> units, TransferState& state) {
  record_unqueued(state, queue_.add(std::move(units), mapping(state)));
  go_on();
}

void PageMoves::plan_again(TransferState& state) {
  record_unqueued(state, queue_.plan_again(mapping(state)));
}

void PageMoves::go_on() {
  if (!queue_.empty()) {
    phase_ = Phase::kRoom;
  } else if (queue_.waits_for_room()) {
    phase_ = Phase::kBlocked;
  } else {
    phase_ = Phase::kDone;
  }
}

Bytes PageMoves::wants() const {
  if (phase_ != Phase::kRoom) {
    return {};
  }
  return std::min(queue_.size_of_next(chunk_.now()), std::max(chunk_.now(), queue_.front().size));
}

TransferStep PageMoves::step(TransferState& state, PageMover& mover, const Limits& limits,
                             Microseconds now, Bytes allowed) {
  switch (phase_) {
    case Phase::kRoom:
      return look_for_room(state, mover, limits, now, allowed);
    case Phase::kMove:
      return move(state, mover, limits, now);
    case Phase::kVerify:
      return verify(state, mover, now);
    case Phase::kBlocked:
    case Phase::kDone:
      break;
  }
  return {};
}

TransferStep PageMoves::look_for_room(TransferState& state, PageMover& mover, const Limits& limits,
                                      Microseconds now, Bytes allowed) {
  const PageUnit& first = queue_.front();
  const NodeId target = first.to;
  const Bytes pool = state.scan.pool();
  // A page retried on its own may take a whole huge page along, so a reading is good for only one
  // such page.
  auto room = state.scan.window().is_retry()
                  ? std::nullopt
                  : room_.room_for(holder_, target, pool, first.size, now);
  const bool known = room && *room >= first.size;
  if (!known) {
    const auto memory = mover.node_memory(target);
    if (!memory && memory.error().code == ErrorCode::kNotFound) {
      state.destinations().close(target, pool, Leftover::kNoNode);
      plan_again(state);
      go_on();
      return {};
    }
    if (!state.setbacks.record(memory, Setbacks::Call::kRead, now)) {
      return {};
    }
    room_.record_reading(target, *memory, limits.node_reserve, now);
    room = room_.room_for(holder_, target, pool, first.size, now);
    if (!room || *room < first.size) {
      state.destinations().block(target, pool);
      plan_again(state);
      go_on();
      return {};
    }
  }
  call_.granted =
      std::min({std::max(allowed, first.size), std::max(chunk_.now(), first.size), *room});
  room_.grant(holder_, target, pool, call_.granted);
  if (known) {
    return move(state, mover, limits, now);
  }
  phase_ = Phase::kMove;
  return {};
}

TransferStep PageMoves::move(TransferState& state, PageMover& mover, const Limits& limits,
                             Microseconds now) {
  call_.units = queue_.take(call_.granted);
  call_.no_space = false;
  Bytes sum;
  std::vector<std::uint64_t> addresses;
  for (const PageUnit& unit : call_.units) {
    sum += unit.size;
    addresses.push_back(unit.address);
  }
  const NodeId target = call_.units.front().to;
  auto result =
      mover.move(state.process, addresses, target,
                 state.scan.range().memory.shared ? SharedPages::kMove : SharedPages::kLeave);
  room_.settle(holder_, target, state.scan.pool(), sum);
  if (state.scan.window().is_retry()) {
    room_.doubt(target);  // it may have taken a huge page along
  }
  ++state.outcome.calls;
  if (!result) {
    move_failed(state, result.error(), now);
    return {};
  }
  state.setbacks.record_success(Setbacks::Call::kMove);
  call_.result = std::move(*result);
  call_.stall_target = limits.stall_target;
  const Microseconds elapsed = call_.result.elapsed;
  state.outcome.stalls += elapsed > limits.stall_target ? 1 : 0;
  state.outcome.long_stalls += elapsed > limits.stall_target * 2 ? 1 : 0;
  state.outcome.longest = std::max(state.outcome.longest, elapsed);
  if (is_certain()) {
    return {.moved = settle(state, {.first = call_.result.statuses, .last = {}}),
            .elapsed = elapsed};
  }
  phase_ = Phase::kVerify;
  return {.moved = {}, .elapsed = elapsed};
}

/// Returns whether the statuses can be trusted. A page that came along with its huge page is
/// reported busy if it was requested in the same call.
bool PageMoves::is_certain() const {
  const std::vector<int>& statuses = call_.result.statuses;
  return call_.result.not_moved == 0 &&
         std::all_of(statuses.begin(), statuses.end(), [](int status) { return status >= 0; }) &&
         std::none_of(call_.units.begin(), call_.units.end(),
                      [](const PageUnit& unit) { return unit.may_be_huge; });
}

void PageMoves::move_failed(TransferState& state, const Error& error, Microseconds now) {
  const NodeId target = call_.units.front().to;
  room_.doubt(target);
  // They are queried afterwards: every page is then either there or has no status of its own.
  call_.result = {.not_moved = static_cast<std::int64_t>(call_.units.size()),
                  .statuses = std::vector<int>(call_.units.size(), kStatusNotWritten),
                  .elapsed = {}};
  switch (error.code) {
    case ErrorCode::kUnsupported:
    case ErrorCode::kNotFound:
      // The kernel rejected the target before touching any page.
      state.destinations().close(
          target, state.scan.pool(),
          error.code == ErrorCode::kNotFound ? Leftover::kNoNode : Leftover::kNotAllowed);
      queue_.put_back(call_.units);
      plan_again(state);
      go_on();
      return;
    case ErrorCode::kNoSpace:
      call_.no_space = true;
      state.destinations().block(target, state.scan.pool());
      break;
    default:
      state.setbacks.note(error, Setbacks::Call::kMove, now);
      break;
  }
  phase_ = Phase::kVerify;
}

TransferStep PageMoves::verify(TransferState& state, PageMover& mover, Microseconds now) {
  const auto page = static_cast<std::uint64_t>(state.scan.range().memory.page_size.value);
  std::vector<std::uint64_t> addresses = mapped(call_.units, &PageUnit::address);
  for (const PageUnit& unit : call_.units) {
    if (unit.may_be_huge) {
      addresses.push_back(unit.address + static_cast<std::uint64_t>(unit.size.value) - page);
    }
  }
  const auto places = mover.query(state.process, addresses);
  if (!state.setbacks.record(places, Setbacks::Call::kRead, now)) {
    return {};
  }
  const std::span<const int> told = *places;
  return {.moved = settle(state, {.first = told.first(call_.units.size()),
                                  .last = told.subspan(call_.units.size())}),
          .elapsed = {}};
}

Bytes PageMoves::settle(TransferState& state, const Places& places) {
  Bytes moved;
  std::vector<PageUnit> again;
  std::int64_t blocks_whole = 0;
  std::int64_t blocks_small = 0;
  auto last_place = places.last.begin();
  for (std::size_t i = 0; i < call_.units.size(); ++i) {
    const PageUnit& unit = call_.units[i];
    queue_.settle(unit);
    const bool whole = !unit.may_be_huge || *last_place++ == unit.to.value;
    if (places.first[i] == unit.to.value) {
      moved += settle_moved(state, unit, whole, again);
      blocks_whole += unit.may_be_huge && whole ? 1 : 0;
      blocks_small += unit.may_be_huge && !whole ? 1 : 0;
    } else {
      state.destinations().count_move(unit.to, unit.from, unit.size);
      room_.doubt(unit.to);  // it took no room
      if (unit.assumed && !call_.no_space) {
        state.scan.ask_again(unit);
      } else if (is_absent(places.first[i])) {
        settle_absent(state, unit);
      } else {
        settle_failed(state, unit, call_.result.statuses[i], again);
      }
    }
  }
  state.scan.record_blocks(blocks_whole, blocks_small);
  state.scan.record_call(moved, call_.result.not_moved > 0 && !call_.no_space);
  if (call_.result.elapsed > Microseconds{}) {  // unknown after an error
    chunk_.learn(moved, call_.result.elapsed, call_.stall_target);
  }
  state.count_moved(moved);
  call_.units.clear();
  record_unqueued(state, queue_.add(std::move(again), mapping(state)));
  if (call_.no_space || state.scan.given_up()) {
    plan_again(state);
  }
  go_on();
  return moved;
}

Bytes PageMoves::settle_moved(TransferState& state, const PageUnit& unit, bool whole,
                              std::vector<PageUnit>& again) {
  const Bytes page = state.scan.range().memory.page_size;
  room_.arrived(holder_, unit.from, unit.to, state.scan.pool(), whole ? unit.size : page);
  if (whole) {
    return unit.size;
  }
  state.destinations().count_move(unit.to, unit.from, unit.size - page);
  if (unit.sampled) {
    state.scan.ask_again(unit);
    return page;
  }
  const auto rest = rest_of_block(unit, page);
  again.insert(again.end(), rest.begin(), rest.end());
  return page;
}

void PageMoves::settle_failed(TransferState& state, const PageUnit& unit, int status,
                              std::vector<PageUnit>& again) const {
  if (call_.no_space) {
    again.push_back(unit);
    return;
  }
  if (unit.sampled) {
    state.scan.ask_again(unit);
    return;
  }
  const Bytes page = state.scan.range().memory.page_size;
  if (unit.may_be_huge) {
    const auto rest = rest_of_block(unit, page);
    again.insert(again.end(), rest.begin(), rest.end());
  }
  if (status == -EACCES) {
    state.count_left(Leftover::kShared, page);
    return;
  }
  const Leftover reason = status == -EBUSY ? Leftover::kBusy : Leftover::kPinned;
  if (!state.scan.try_later(unit, reason)) {
    state.count_left(reason, page);
  }
}

void PageMoves::retry_room(TransferState& state) {
  state.parts.reopen();
  plan_again(state);
  go_on();
}

std::vector<PageScan::Retry> PageMoves::give_up_room(TransferState& state) {
  state.parts.close_blocked();
  // The locations of these pages are queried once more: a page tried before them may have been part
  // of a huge page and taken them along, into the last of the room.
  const auto page = static_cast<std::uint64_t>(state.scan.range().memory.page_size.value);
  std::vector<PageScan::Retry> again;
  for (const PageUnit& unit : queue_.take_waiting()) {
    if (unit.sampled) {
      state.scan.ask_again(unit);
      continue;
    }
    const auto end = unit.address + static_cast<std::uint64_t>(unit.size.value);
    for (std::uint64_t address = unit.address; address < end; address += page) {
      again.push_back({state.scan.window().range, address, unit.from, Leftover::kNoRoom});
    }
  }
  go_on();
  return again;
}

}  // namespace vmnuma::migration
