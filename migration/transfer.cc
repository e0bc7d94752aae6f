// SPDX-License-Identifier: Apache-2.0
#include "migration/transfer.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "placement/cell_mappings.h"

namespace vmnuma::migration {

using placement::Bytes;
using placement::Microseconds;
using placement::NodeId;

namespace {

constexpr std::int64_t kMostPasses = 3;
constexpr std::int64_t kMostRetryRounds = 3;
constexpr std::size_t kMostRetries =
    65536;  ///< pages remembered for another try; bounds memory, not work
constexpr std::int64_t kMostFailures = 3;
constexpr std::int64_t kMostStuckCalls = 8;
constexpr std::int64_t kLongestProbePause = 64;
constexpr std::int64_t kMuch = 64;  ///< a 64th of all is worth another look
constexpr Microseconds kFirstBackOff{100'000};

Microseconds back_off(std::int64_t round) {
  return kFirstBackOff * (std::int64_t{1} << round);
}

bool is_absent(int status) {
  return status == -ENOENT || status == -EFAULT;
}

}  // namespace

Transfer::Transfer(placement::VmProcess process, MemoryChange change, RoomBook& room,
                   const RoomBook::Holder& holder)
    : process_(process), change_(std::move(change)), room_(room), holder_(holder) {}

Bytes Transfer::pool() const {
  const MemoryRange& memory = ranges_[window_.range].memory;
  return memory.hugetlb ? memory.page_size : Bytes{};
}

std::vector<NodeQuota> Transfer::quotas_of(std::size_t part) const {
  if (part == 0) {
    return change_.quotas;
  }
  const CellHome& cell = change_.cells[part - 1];
  return {{cell.node, cell.size}};
}

bool Transfer::is_home(std::size_t part, NodeId node) const {
  if (part > 0) {
    return change_.cells[part - 1].node == node;
  }
  return std::any_of(change_.quotas.begin(), change_.quotas.end(),
                     [&](const NodeQuota& quota) { return quota.node == node; });
}

Bytes Transfer::wants() const {
  if (phase_ != Phase::kRoom) {
    return {};
  }
  Bytes sum;
  for (const PageUnit& unit : queue_) {
    if (unit.to != queue_.front().to || sum >= chunk_.now()) {
      break;
    }
    sum += unit.size;
  }
  return std::min(sum, std::max(chunk_.now(), queue_.front().size));
}

bool Transfer::between_windows() const {
  return phase_ == Phase::kQuery || phase_ == Phase::kBlocked || phase_ == Phase::kFinished;
}

Bytes Transfer::remaining() const {
  if (parts_.empty() || finished()) {
    return outcome_.left;
  }
  Bytes sum = planned_ + bound_by_policy_;
  for (const Destinations& part : parts_) {
    sum += part.remaining();
  }
  return sum;
}

TransferStep Transfer::step(PageMover& mover, const Limits& limits, Microseconds now,
                            Bytes allowed) {
  VMNUMA_CHECK(!change_.quotas.empty());
  switch (phase_) {
    case Phase::kSurvey:
      return survey(mover, now);
    case Phase::kQuery:
      return query(mover, now);
    case Phase::kReveal:
      return reveal(mover, now);
    case Phase::kRoom:
      return look_for_room(mover, limits, now, allowed);
    case Phase::kMove:
      return move(mover, limits, now);
    case Phase::kVerify:
      return verify(mover, now);
    case Phase::kBlocked:
    case Phase::kFinished:
      break;
  }
  return {};
}

TransferStep Transfer::survey(PageMover& mover, Microseconds now) {
  auto found = mover.find_ranges(process_);
  if (!found) {
    fail(found.error(), failed_reads_, now);
    return {};
  }
  failed_reads_ = 0;
  begin_pass(std::move(*found));
  if (!finished()) {
    next_window(now);
  }
  return {};
}

/// Of each mapping. If a pass cannot tell the cells, their memory is one with all the rest.
std::vector<std::size_t> Transfer::parts_of(const std::vector<MemoryRange>& found) {
  std::vector<std::size_t> parts(found.size(), 0);
  if (change_.cells.empty()) {
    return parts;
  }
  std::vector<Bytes> sizes;
  sizes.reserve(change_.cells.size());
  for (const CellHome& cell : change_.cells) {
    sizes.push_back(cell.size);
  }
  std::vector<placement::MappedMemory> mappings;
  mappings.reserve(found.size());
  for (const MemoryRange& memory : found) {
    mappings.push_back({memory.start, memory.length});
  }
  const auto mapping_of = placement::mappings_of_cells(sizes, mappings);
  if (!mapping_of) {
    cells_unknown_because_ = mapping_of.error().message;
    return parts;
  }
  cells_unknown_because_.clear();
  for (std::size_t cell = 0; cell < mapping_of->size(); ++cell) {
    if ((*mapping_of)[cell] != placement::kNoMapping) {
      parts[(*mapping_of)[cell]] = cell + 1;
    }
  }
  return parts;
}

void Transfer::begin_pass(std::vector<MemoryRange> found) {
  const std::vector<std::size_t> parts = parts_of(found);
  std::vector<std::map<NodeId, Bytes>> resident(change_.cells.size() + 1);
  Bytes total;
  bound_by_policy_ = {};
  ranges_.clear();
  for (std::size_t i = 0; i < found.size(); ++i) {
    MemoryRange& memory = found[i];
    const bool movable = memory.policy.empty();
    Bytes elsewhere;
    Bytes all;
    for (const NodeBytes& on_node : memory.resident) {
      all += on_node.bytes;
      elsewhere += is_home(parts[i], on_node.node) ? Bytes{} : on_node.bytes;
      if (movable) {
        resident[parts[i]][on_node.node] += on_node.bytes;
      }
    }
    total += all;
    const bool is_shared_out = parts[i] == 0 && change_.quotas.size() > 1 && all > Bytes{};
    if (!movable) {
      bound_by_policy_ += elsewhere;
    } else if (elsewhere > Bytes{} || is_shared_out) {
      ranges_.push_back({.memory = std::move(memory), .part = parts[i], .resident = all});
      ranges_.back().all_on = all_on(ranges_.back());
    }
  }
  parts_.clear();
  for (std::size_t part = 0; part < resident.size(); ++part) {
    std::vector<NodeBytes> by_node;
    for (const auto& [node, bytes] : resident[part]) {
      by_node.push_back({node, bytes});
    }
    parts_.emplace_back(quotas_of(part), by_node);
  }
  const Bytes left = remaining();
  if (pass_ == 0) {
    outcome_.already_home = total - left;
  }
  const bool nothing_to_do = left == bound_by_policy_;
  if (!nothing_to_do && pass_ > 0 && !another_pass_pays(left, total)) {
    count_left(Leftover::kUnseen, std::max(Bytes{}, left - outcome_.unmovable()));
    finish();
    return;
  }
  outcome_.left_by_reason = {};
  count_left(Leftover::kPolicy, bound_by_policy_);
  if (nothing_to_do) {
    finish();
    return;
  }
  ++pass_;
  moved_in_pass_ = {};
  std::stable_sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return a.memory.length > b.memory.length;
  });
  next_range_ = 0;
  next_offset_ = {};
  retry_round_ = 0;
}

/// The node that the whole mapping has to leave for the same other one, if that is so.
std::optional<NodeId> Transfer::all_on(const Range& range) const {
  const MemoryRange& memory = range.memory;
  const bool nearly_all = range.resident >= memory.length - memory.length / kMuch;
  if (pass_ > 0 || !nearly_all || memory.shared || memory.hugetlb ||
      quotas_of(range.part).size() != 1) {
    return std::nullopt;
  }
  std::optional<NodeId> node;
  for (const NodeBytes& on_node : memory.resident) {
    if (on_node.bytes > Bytes{}) {
      if (node || is_home(range.part, on_node.node)) {
        return std::nullopt;
      }
      node = on_node.node;
    }
  }
  return node;
}

bool Transfer::another_pass_pays(Bytes left, Bytes total) const {
  // What was hidden or came to lie elsewhere meanwhile is worth a pass only if it is much.
  return pass_ < kMostPasses && moved_in_pass_ > Bytes{} &&
         left - outcome_.unmovable() > total / kMuch;
}

/// True if a range is still to be scanned: next_range_ is that one.
bool Transfer::has_window_left() {
  while (next_range_ < ranges_.size()) {
    Range& range = ranges_[next_range_];
    if (!range.blocks_to_ask.empty() || !range.pages_to_ask.empty()) {
      return true;
    }
    const Bytes unseen = range.resident - range.seen;
    if (unseen <= Bytes{}) {
      next_offset_ = range.memory.length;  // what is behind is a hole
    }
    const bool much_is_unseen =
        range.memory.huge_page_size > Bytes{} && !range.memory.shared &&
        unseen >= std::max(range.memory.huge_page_size, range.resident / kMuch);
    if (next_offset_ < range.memory.length && (!range.second_look || much_is_unseen)) {
      return true;
    }
    if (!range.second_look && much_is_unseen) {
      range.second_look = true;
    } else {
      ++next_range_;
    }
    next_offset_ = {};
  }
  return false;
}

void Transfer::next_window(Microseconds now) {
  phase_ = Phase::kQuery;
  if (has_window_left()) {
    Range& range = ranges_[next_range_];
    window_ = {.range = next_range_};
    if (!range.blocks_to_ask.empty()) {
      // As many as a window has room for.
      const auto most =
          static_cast<std::size_t>(kLargestChunk.value / range.memory.huge_page_size.value);
      for (std::size_t i = 0; i < most && !range.blocks_to_ask.empty(); ++i) {
        const auto pages = pages_of_block(range.memory, range.blocks_to_ask.back());
        range.blocks_to_ask.pop_back();
        window_.addresses.insert(window_.addresses.end(), pages.begin(), pages.end());
      }
      return;
    }
    if (!range.pages_to_ask.empty()) {
      window_.addresses = std::exchange(range.pages_to_ask, {});
      std::sort(window_.addresses.begin(), window_.addresses.end());
      return;
    }
    const bool look_for_huge = range.windows_not_probed == 0;
    range.windows_not_probed -= look_for_huge ? 0 : 1;
    window_.look_for_huge = look_for_huge || range.second_look;
    window_.sampled = look_for_huge && range.huge_so_far && !range.second_look;
    window_.assumed = !window_.look_for_huge && range.all_on.has_value();
    // Whether a mapping's blocks are huge pages shows in a few of them.
    const Bytes reach = look_for_huge && !range.huge_so_far ? kSmallestChunk * 4 : kLargestChunk;
    window_.addresses = window_.sampled ? sample_addresses(range.memory, next_offset_, reach)
                                        : window_addresses(range.memory, next_offset_, reach);
    next_offset_ += window_length(range.memory, next_offset_, reach);
    return;
  }
  if (retrying_.empty()) {
    begin_retry_round(now);
  }
  if (retrying_.empty()) {
    phase_ = Phase::kSurvey;
    return;
  }
  window_ = {.range = retrying_.back().range};
  const Bytes page = range().memory.page_size;
  while (!retrying_.empty() && retrying_.back().range == window_.range &&
         (window_.addresses.empty() ||
          page * static_cast<std::int64_t>(window_.addresses.size()) < kLargestChunk)) {
    window_.addresses.push_back(retrying_.back().address);
    window_.retries.push_back(retrying_.back());
    retrying_.pop_back();
  }
}

void Transfer::begin_retry_round(Microseconds now) {
  if (retry_.empty()) {
    return;
  }
  if (retry_round_ < kMostRetryRounds) {
    ready_at_ = now + back_off(retry_round_);
  }
  ++retry_round_;
  retrying_ = std::exchange(retry_, {});
  std::sort(retrying_.begin(), retrying_.end(), [](const Retry& a, const Retry& b) {
    return std::pair(b.range, b.address) < std::pair(a.range, a.address);
  });
}

/// Assumes that all pages of the window are where the survey has seen them, if some of them are.
TransferStep Transfer::check_assumption(PageMover& mover, Microseconds now) {
  const auto statuses = mover.query(process_, spot_check(window_.addresses));
  if (!statuses) {
    fail(statuses.error(), failed_reads_, now);
    return {};
  }
  failed_reads_ = 0;
  const int node = range().all_on->value;
  window_.assumed = std::all_of(statuses->begin(), statuses->end(),
                                [node](int status) { return status == node; });
  if (!window_.assumed) {
    return {};  // asks about every page then
  }
  window_.statuses.assign(window_.addresses.size(), node);
  return plan_window(now);
}

TransferStep Transfer::query(PageMover& mover, Microseconds now) {
  if (window_.assumed) {
    return check_assumption(mover, now);
  }
  auto statuses = mover.query(process_, window_.addresses);
  if (!statuses) {
    fail(statuses.error(), failed_reads_, now);
    return {};
  }
  failed_reads_ = 0;
  window_.statuses = std::move(*statuses);
  if (!window_.revealed && find_hidden()) {
    phase_ = Phase::kReveal;
    return {};
  }
  return plan_window(now);
}

/// A page that is not there has this status only if NUMA balancing has hidden it.
bool Transfer::may_be_hidden(int status) {
  // Shared memory calls a page that never was the same, so only if there is none such.
  const bool has_no_holes = range().resident >= range().memory.length;
  return status == -ENOENT && !range().memory.hugetlb && (!range().memory.shared || has_no_holes);
}

/// True if something in the window is to be revealed first; then says what. A second look asks
/// again about nothing but blocks that were not seen.
bool Transfer::find_hidden() {
  if (window_.sampled) {
    return false;  // what is not seen is asked about page by page
  }
  if (range().second_look && !window_.is_retry()) {
    window_.hidden = unseen_blocks(range().memory, window_.addresses, window_.statuses);
    window_.hidden_unit = range().memory.huge_page_size;
    window_.addresses.clear();
    window_.statuses.clear();
    for (const std::uint64_t block : window_.hidden) {
      const auto pages = pages_of_block(range().memory, block);
      window_.addresses.insert(window_.addresses.end(), pages.begin(), pages.end());
    }
  } else {
    window_.hidden_unit = range().memory.page_size;
    for (std::size_t i = 0; i < window_.statuses.size(); ++i) {
      if (may_be_hidden(window_.statuses[i])) {
        window_.hidden.push_back(window_.addresses[i]);
      }
    }
  }
  return !window_.hidden.empty();
}

TransferStep Transfer::reveal(PageMover& mover, Microseconds now) {
  const auto revealed = mover.reveal(process_, window_.hidden, window_.hidden_unit);
  if (!revealed) {
    fail(revealed.error(), failed_reads_, now);
    return {};
  }
  failed_reads_ = 0;
  window_.revealed = true;
  phase_ = Phase::kQuery;
  return {};
}

TransferStep Transfer::plan_window(Microseconds now) {
  Bytes arrived;
  if (window_.is_retry()) {
    arrived = count_retried();
    if (retry_round_ > kMostRetryRounds) {
      next_window(now);
      return {.moved = arrived, .elapsed = {}};
    }
  }
  if (window_.sampled) {
    SampledPages sample = read_sample(range().memory, window_.addresses, window_.statuses);
    for (const PageUnit& unit : sample.units) {
      range().seen += unit.size;
    }
    range().blocks_to_ask.insert(range().blocks_to_ask.end(), sample.blocks.begin(),
                                 sample.blocks.end());
    plan(std::move(sample.units));
    go_on(now);
    return {};
  }
  WindowPages pages =
      read_window(range().memory, window_.addresses, window_.statuses, window_.look_for_huge);
  for (PageUnit& unit : pages.units) {
    unit.assumed = window_.assumed;
    range().seen += window_.is_retry() ? Bytes{} : unit.size;
  }
  plan(std::move(pages.units));
  go_on(now);
  return {.moved = arrived, .elapsed = {}};
}

/// Pages that were to be tried again and need not be: one that could not be queued because its huge
/// page already was has come along with it, and others are no more. After the last round, those
/// that are still where they were are left there.
Bytes Transfer::count_retried() {
  const Bytes page = range().memory.page_size;
  Bytes arrived;
  for (std::size_t i = 0; i < window_.statuses.size(); ++i) {
    const Retry& retry = window_.retries[i];
    const NodeId now{window_.statuses[i]};
    if (is_absent(window_.statuses[i])) {
      outcome_.absent += page;
      destinations().count_gone(retry.from, page);
    } else if (now != retry.from && is_home(range().part, now)) {
      arrived += page;
      destinations().count_move(retry.from, now, page);
      room_.arrived(holder_, retry.from, now, pool(), page);
    } else if (retry_round_ > kMostRetryRounds) {
      count_left(retry.reason, page);
    }
  }
  outcome_.moved += arrived;
  moved_in_pass_ += arrived;
  return arrived;
}

void Transfer::plan(std::vector<PageUnit> units) {
  const auto block = static_cast<std::uint64_t>(
      std::max(range().memory.huge_page_size, range().memory.page_size).value);
  const bool given_up = range().stuck_calls >= kMostStuckCalls;
  std::optional<PageUnit> neighbour;
  for (PageUnit& unit : units) {
    const bool near = neighbour && neighbour->address / block == unit.address / block;
    const Destination destination = destinations().choose(
        unit.from, unit.size, pool(), near ? std::optional(neighbour->to) : std::nullopt);
    const bool goes = std::holds_alternative<GoTo>(destination) ||
                      std::holds_alternative<WaitForRoom>(destination);
    if ((unit.sampled || unit.assumed) && (given_up || !goes)) {
      ask_again(unit);
      continue;
    }
    if (std::holds_alternative<Stay>(destination)) {
      continue;
    }
    if (given_up) {
      count_left(Leftover::kPinned, unit.size);
    } else if (const auto* go = std::get_if<GoTo>(&destination)) {
      unit.to = go->node;
      destinations().count_move(unit.from, unit.to, unit.size);
      planned_ += unit.size;
      queue_.push_back(unit);
      neighbour = unit;
    } else if (const auto* refused = std::get_if<Refused>(&destination)) {
      count_left(refused->reason, unit.size);
    } else {
      parked_.push_back(unit);
    }
  }
  std::sort(queue_.begin(), queue_.end(), [](const PageUnit& a, const PageUnit& b) {
    return std::pair(a.to, a.address) < std::pair(b.to, b.address);
  });
}

void Transfer::plan_again() {
  std::vector<PageUnit> units = std::exchange(queue_, {});
  for (const PageUnit& unit : units) {
    destinations().count_move(unit.to, unit.from, unit.size);
    planned_ -= unit.size;
  }
  for (const PageUnit& unit : std::exchange(parked_, {})) {
    units.push_back(unit);
  }
  std::sort(units.begin(), units.end(),
            [](const PageUnit& a, const PageUnit& b) { return a.address < b.address; });
  plan(std::move(units));
}

void Transfer::go_on(Microseconds now) {
  if (!queue_.empty()) {
    phase_ = Phase::kRoom;
  } else if (!parked_.empty()) {
    phase_ = Phase::kBlocked;
  } else {
    next_window(now);
  }
}

TransferStep Transfer::look_for_room(PageMover& mover, const Limits& limits, Microseconds now,
                                     Bytes allowed) {
  const PageUnit& first = queue_.front();
  const NodeId target = first.to;
  // A page that is tried alone may take all of a huge page along, so no reading is good for more.
  auto room =
      window_.is_retry() ? std::nullopt : room_.room_for(holder_, target, pool(), first.size, now);
  const bool known = room && *room >= first.size;
  if (!known) {
    const auto memory = mover.node_memory(target);
    if (!memory && memory.error().code != ErrorCode::kNotFound) {
      fail(memory.error(), failed_reads_, now);
      return {};
    }
    if (!memory) {
      destinations().close(target, pool(), Leftover::kNoNode);
      plan_again();
      go_on(now);
      return {};
    }
    failed_reads_ = 0;
    room_.note_reading(target, *memory, limits.node_reserve, now);
    room = room_.room_for(holder_, target, pool(), first.size, now);
    if (!room || *room < first.size) {
      destinations().block(target, pool());
      plan_again();
      go_on(now);
      return {};
    }
  }
  granted_ = std::min({std::max(allowed, first.size), std::max(chunk_.now(), first.size), *room});
  room_.grant(holder_, target, pool(), granted_);
  if (known) {
    return move(mover, limits, now);
  }
  phase_ = Phase::kMove;
  return {};
}

TransferStep Transfer::move(PageMover& mover, const Limits& limits, Microseconds now) {
  Bytes sum;
  std::size_t count = 0;
  std::vector<std::uint64_t> addresses;
  while (count < queue_.size() && queue_[count].to == queue_.front().to &&
         (count == 0 || sum + queue_[count].size <= granted_)) {
    sum += queue_[count].size;
    addresses.push_back(queue_[count].address);
    ++count;
  }
  const auto split = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  submitted_.assign(queue_.begin(), split);
  queue_.erase(queue_.begin(), split);

  const SharedPages shared = range().memory.shared ? SharedPages::kMove : SharedPages::kLeave;
  const NodeId target = submitted_.front().to;
  auto result = mover.move(process_, addresses, target, shared);
  room_.settle(holder_, target, pool(), sum);
  if (window_.is_retry()) {
    room_.doubt(target);  // it may have taken a huge page along
  }
  ++outcome_.calls;
  no_space_ = false;
  if (!result) {
    move_failed(result.error(), now);
    return {};
  }
  failed_moves_ = 0;
  result_ = std::move(*result);
  stall_target_ = limits.stall_target;
  outcome_.stalls += result_.elapsed > stall_target_ ? 1 : 0;
  outcome_.long_stalls += result_.elapsed > stall_target_ + stall_target_ ? 1 : 0;
  outcome_.longest = std::max(outcome_.longest, result_.elapsed);
  // A page that came along with its huge page is called busy when it is asked for in the same call.
  const auto all_there = [](int status) { return status >= 0; };
  const bool certain = result_.not_moved == 0 &&
                       std::all_of(result_.statuses.begin(), result_.statuses.end(), all_there) &&
                       std::none_of(submitted_.begin(), submitted_.end(),
                                    [](const PageUnit& unit) { return unit.may_be_huge; });
  TransferStep done{.moved = {}, .elapsed = result_.elapsed};
  if (certain) {
    done.moved = settle(result_.statuses, {}, now);
  } else {
    phase_ = Phase::kVerify;
  }
  return done;
}

void Transfer::move_failed(const Error& error, Microseconds now) {
  room_.doubt(submitted_.front().to);
  // Asked afterwards, every page is either there or has no status of its own.
  result_ = {.not_moved = static_cast<std::int64_t>(submitted_.size()),
             .statuses = std::vector<int>(submitted_.size(), kStatusNotWritten),
             .elapsed = {}};
  switch (error.code) {
    case ErrorCode::kUnsupported:
    case ErrorCode::kNotFound: {
      // The kernel refused the target before it touched a page.
      destinations().close(
          submitted_.front().to, pool(),
          error.code == ErrorCode::kNotFound ? Leftover::kNoNode : Leftover::kNotAllowed);
      queue_.insert(queue_.end(), submitted_.begin(), submitted_.end());
      plan_again();
      go_on(now);
      return;
    }
    case ErrorCode::kNoSpace:
      no_space_ = true;
      destinations().block(submitted_.front().to, pool());
      break;
    default:
      fail(error, failed_moves_, now);
      break;
  }
  if (!finished()) {
    phase_ = Phase::kVerify;
  }
}

TransferStep Transfer::verify(PageMover& mover, Microseconds now) {
  std::vector<std::uint64_t> addresses;
  for (const PageUnit& unit : submitted_) {
    addresses.push_back(unit.address);
  }
  const auto page = static_cast<std::uint64_t>(range().memory.page_size.value);
  for (const PageUnit& unit : submitted_) {
    if (unit.may_be_huge) {
      addresses.push_back(unit.address + static_cast<std::uint64_t>(unit.size.value) - page);
    }
  }
  const auto places = mover.query(process_, addresses);
  if (!places) {
    fail(places.error(), failed_reads_, now);
    return {};
  }
  failed_reads_ = 0;
  const auto split = places->begin() + static_cast<std::ptrdiff_t>(submitted_.size());
  return {.moved = settle({places->begin(), split}, {split, places->end()}, now), .elapsed = {}};
}

Bytes Transfer::settle(const std::vector<int>& places, const std::vector<int>& last_places,
                       Microseconds now) {
  Bytes moved;
  std::vector<PageUnit> again;
  std::int64_t blocks_whole = 0;
  std::int64_t blocks_small = 0;
  auto last_place = last_places.begin();
  for (std::size_t i = 0; i < submitted_.size(); ++i) {
    const PageUnit& unit = submitted_[i];
    planned_ -= unit.size;
    const bool whole = !unit.may_be_huge || *last_place++ == unit.to.value;
    if (places[i] == unit.to.value) {
      moved += settle_moved(unit, whole, again);
      blocks_whole += unit.may_be_huge && whole ? 1 : 0;
      blocks_small += unit.may_be_huge && !whole ? 1 : 0;
    } else {
      destinations().count_move(unit.to, unit.from, unit.size);
      room_.doubt(unit.to);  // it took no room
      if (unit.assumed && !no_space_) {
        ask_again(unit);
      } else if (is_absent(places[i])) {
        settle_absent(unit);
      } else {
        settle_failed(unit, result_.statuses[i], again);
      }
    }
  }
  Range& range = this->range();
  if (blocks_whole > 0) {
    range.probe_pause = 1;
    range.huge_so_far = blocks_small == 0;
  } else if (blocks_small > 0) {
    range.huge_so_far = false;
    range.windows_not_probed = range.probe_pause;
    range.probe_pause = std::min(range.probe_pause * 2, kLongestProbePause);
  }
  if (moved > Bytes{}) {
    range.stuck_calls = 0;
  } else if (result_.not_moved > 0 && !no_space_) {
    ++range.stuck_calls;
  }
  if (result_.elapsed > Microseconds{}) {  // unknown after an error
    chunk_.learn(moved, result_.elapsed, stall_target_);
  }
  outcome_.moved += moved;
  moved_in_pass_ += moved;
  submitted_.clear();
  plan(std::move(again));
  if (no_space_ || range.stuck_calls >= kMostStuckCalls) {
    plan_again();
  }
  go_on(now);
  return moved;
}

Bytes Transfer::settle_moved(const PageUnit& unit, bool whole, std::vector<PageUnit>& again) {
  const Bytes page = range().memory.page_size;
  room_.arrived(holder_, unit.from, unit.to, pool(), whole ? unit.size : page);
  if (whole) {
    return unit.size;
  }
  destinations().count_move(unit.to, unit.from, unit.size - page);
  if (unit.sampled) {
    ask_again(unit);
    return page;
  }
  const auto rest = rest_of_block(unit, page);
  again.insert(again.end(), rest.begin(), rest.end());
  return page;
}

void Transfer::settle_failed(const PageUnit& unit, int status, std::vector<PageUnit>& again) {
  if (no_space_) {
    again.push_back(unit);
    return;
  }
  if (unit.sampled) {
    ask_again(unit);
    return;
  }
  const Bytes page = range().memory.page_size;
  if (unit.may_be_huge) {
    const auto rest = rest_of_block(unit, page);
    again.insert(again.end(), rest.begin(), rest.end());
  }
  if (status == -EACCES) {
    count_left(Leftover::kShared, page);
    return;
  }
  const Leftover reason = status == -EBUSY ? Leftover::kBusy : Leftover::kPinned;
  if (retry_.size() < kMostRetries) {
    retry_.push_back({window_.range, unit.address, unit.from, reason});
  } else {
    count_left(reason, page);
  }
}

/// A sampled block that is not simply a huge page on its way: what its pages are is found out.
void Transfer::ask_again(const PageUnit& unit) {
  range().seen -= unit.size;  // seen again then
  (unit.assumed ? range().pages_to_ask : range().blocks_to_ask).push_back(unit.address);
}

/// It was there when it was planned: it is hidden now, or no more. Looked for once more.
void Transfer::settle_absent(const PageUnit& unit) {
  if (unit.may_be_huge) {
    range().seen -= unit.size;  // the second look finds it if it is hidden
    return;
  }
  if (retry_.size() < kMostRetries) {  // else the last survey finds it
    retry_.push_back({window_.range, unit.address, unit.from, Leftover::kUnseen});
  }
}

void Transfer::retry_room(Microseconds now) {
  if (waits_for_room()) {
    for (Destinations& part : parts_) {
      part.reopen();
    }
    plan_again();
    go_on(now);
  }
}

void Transfer::give_up_room(Microseconds now) {
  if (!waits_for_room()) {
    return;
  }
  for (Destinations& part : parts_) {
    part.close_blocked();
  }
  // Where they are is asked once more: a page that was tried before them may have been part of a
  // huge page and have taken them along, into the last room there was.
  Window again{.range = window_.range};
  for (const PageUnit& unit : std::exchange(parked_, {})) {
    if (unit.sampled) {
      ask_again(unit);
      continue;
    }
    const auto page = static_cast<std::uint64_t>(range().memory.page_size.value);
    const auto end = unit.address + static_cast<std::uint64_t>(unit.size.value);
    for (std::uint64_t address = unit.address; address < end; address += page) {
      again.addresses.push_back(address);
      again.retries.push_back({again.range, address, unit.from, Leftover::kNoRoom});
    }
  }
  if (again.addresses.empty()) {
    next_window(now);
    return;
  }
  window_ = std::move(again);
  phase_ = Phase::kQuery;
}

void Transfer::fail(const Error& error, std::int64_t& in_a_row, Microseconds now) {
  const bool hopeless =
      error.code == ErrorCode::kVanished || error.code == ErrorCode::kPermissionDenied;
  if (hopeless || in_a_row == kMostFailures) {
    error_ = error;
    finish();
    return;
  }
  ready_at_ = now + back_off(in_a_row);
  ++in_a_row;
}

void Transfer::stop() {
  if (!finished()) {
    finish();
  }
}

void Transfer::finish() {
  outcome_.left = remaining();
  room_.release(holder_);
  phase_ = Phase::kFinished;
}

}  // namespace vmnuma::migration
