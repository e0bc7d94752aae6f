// SPDX-License-Identifier: Apache-2.0
#include "migration/memory_work.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "migration/destinations.h"
#include "migration/steps.h"
#include "placement/base/mapped.h"
#include "placement/base/sorted.h"
#include "placement/model/text.h"

namespace vmnuma::migration {

namespace {

/// The most that libvirt may be left to copy when the set of nodes is narrowed: it does so in one
/// go, with its lock held. Leaving a little must not keep the set wide, even for a small VM: the
/// libraries that it shares with other VMs are some megabytes of every VM.
constexpr Bytes kMostToNarrow = kMiB * 256;
constexpr Bytes kLittleToNarrow = kMiB * 8;
constexpr std::int64_t kShareToNarrow = 32;

constexpr std::int64_t kMostSetTries = 10;
constexpr Microseconds kFirstSetWait{1'000'000};
constexpr Microseconds kLongestSetWait{30'000'000};

bool is_next_to_nothing(Bytes left, Bytes all) {
  return left < kLittleToNarrow || (left <= kMostToNarrow && left * kShareToNarrow <= all);
}

std::vector<NodeId> final_nodes_of(const VmChange& change) {
  if (!change.memory.allowed_after.empty() || change.memory_mode != MemoryMode::kMask) {
    return sorted_unique(change.memory.allowed_after);
  }
  std::vector<NodeId> homes = mapped(change.memory.quotas, &NodeQuota::node);
  return sorted_unique(std::move(homes));
}

/// The set that must be allowed while pages move; empty if it is already allowed.
std::vector<NodeId> wide_nodes_of(const VmChange& change, const std::vector<NodeId>& final_nodes) {
  const std::vector<NodeId> before = sorted_unique(change.memory.allowed_before);
  if (final_nodes.empty() || before.empty()) {
    return {};  // it was all nodes
  }
  std::vector<NodeId> nodes = before;
  nodes.insert(nodes.end(), final_nodes.begin(), final_nodes.end());
  nodes = sorted_unique(std::move(nodes));
  return nodes == before ? std::vector<NodeId>{} : nodes;
}

}  // namespace

MemoryWork::MemoryWork(const VmChange& change, std::int64_t action, std::int32_t number,
                       RoomBook& room, Microseconds now)
    : change_(change),
      final_nodes_(final_nodes_of(change)),
      wide_nodes_(wide_nodes_of(change, final_nodes_)),
      action_(action),
      number_(number),
      began_at_(now),
      transfer_(change.process, change.memory, room, {action, change.vm}) {}

bool MemoryWork::vanished() const {
  return gone_ || (transfer_.error() && transfer_.error()->code == ErrorCode::kVanished);
}

void MemoryWork::note(const std::string& text) {
  notes_ += "; " + text;
}

TransferStep MemoryWork::step(const Ports& ports, const Limits& limits, Microseconds now,
                              Bytes allowed) {
  TransferStep done;
  switch (phase_) {
    case Phase::kBegin:
      begin(ports);
      break;
    case Phase::kCheckToWiden:
      phase_ = still_runs(ports) ? Phase::kWiden : Phase::kEnd;
      break;
    case Phase::kWiden:
      widen(ports, now);
      break;
    case Phase::kTransfer:
      done = transfer_.step(ports.mover, limits, now, allowed);
      if (transfer_.finished()) {
        after_transfer();
      }
      break;
    case Phase::kCheckToNarrow:
      phase_ = still_runs(ports) ? Phase::kNarrow : Phase::kEnd;
      break;
    case Phase::kNarrow:
      narrow(ports, now);
      break;
    case Phase::kLookAgain:
      look_again(ports);
      break;
    case Phase::kEnd:
      end(ports);
      break;
    case Phase::kDone:
      break;
  }
  return done;
}

void MemoryWork::begin(const Ports& ports) {
  const auto begun = ports.journal.begin_step(action_, number_, memory_text(change_));
  if (!begun) {
    transfer_.stop();
    note("not begun, because the journal could not be written: " + begun.error().message);
    phase_ = Phase::kDone;
  } else if (!wide_nodes_.empty()) {
    phase_ = Phase::kCheckToWiden;
  } else {
    after_widening();
  }
}

bool MemoryWork::still_runs(const Ports& ports) {
  const auto alive = ports.mover.check(change_.process);
  if (alive) {
    return true;
  }
  gone_ = alive.error().code == ErrorCode::kVanished;
  if (!gone_) {
    note(fmt::format("its set of memory nodes is left alone, because it could not be checked: {}",
                     alive.error().message));
  }
  transfer_.stop();
  return false;
}

void MemoryWork::widen(const Ports& ports, Microseconds now) {
  widened_ = succeeded(
      ports.control.change_memory_nodes(run_of(change_), wide_nodes_, MemoryNodes::kWiden),
      "widened", now);
  if (problem_.empty()) {
    after_widening();
  } else {
    phase_ = Phase::kCheckToWiden;
  }
}

/// Whether this succeeds or fails finally, the location of the memory is checked next.
void MemoryWork::narrow(const Ports& ports, Microseconds now) {
  (void)succeeded(
      ports.control.change_memory_nodes(run_of(change_), final_nodes_, MemoryNodes::kSet),
      "narrowed", now);
  phase_ = problem_.empty() ? Phase::kLookAgain : Phase::kCheckToNarrow;
}

bool MemoryWork::succeeded(const Result<void>& set, const char* how, Microseconds now) {
  problem_.clear();
  if (set) {
    attempts_.reset_failures();
    return true;
  }
  std::string what =
      fmt::format("its set of memory nodes could not be {}: {}", how, set.error().message);
  const bool may_work = !set.error().is_gone() &&
                        (is_transient(set.error()) || attempts_.failures() + 1 < kMostSetTries);
  if (restores(change_) && may_work) {
    attempts_.failed(now, kFirstSetWait, kLongestSetWait);
    problem_ = std::move(what);
    return false;
  }
  set_failed_ = true;
  note(what);
  return false;
}

void MemoryWork::after_widening() {
  phase_ = Phase::kTransfer;
  if (change_.memory.quotas.empty()) {
    after_transfer();  // nothing to move
  }
}

void MemoryWork::after_transfer() {
  phase_ = Phase::kEnd;
  if (final_nodes_.empty() || transfer_.error()) {
    return;
  }
  if (wide_nodes_ == final_nodes_) {
    if (widened_ && !change_.memory.quotas.empty()) {
      note("it may use memory nodes " + to_list(final_nodes_));
    }
    return;
  }
  const Outcome& outcome = transfer_.outcome();
  const Bytes all = outcome.moved + outcome.already_home + outcome.left;
  const bool has_room = outcome.left_because(Leftover::kNoRoom) == Bytes{};
  if (has_room && is_next_to_nothing(outcome.left, all)) {
    phase_ = Phase::kCheckToNarrow;
  } else {
    note("its set of memory nodes stays wide");
  }
}

void MemoryWork::look_again(const Ports& ports) {
  phase_ = Phase::kEnd;
  const auto ranges = ports.mover.find_ranges(change_.process);
  if (!ranges) {
    note("where its memory is could not be read: " + ranges.error().message);
    return;
  }
  Bytes left;
  for (const MemoryRange& range : *ranges) {
    for (const NodeBytes& part : range.resident) {
      const bool inside = std::binary_search(final_nodes_.begin(), final_nodes_.end(), part.node);
      left += inside ? Bytes{} : part.bytes;
    }
  }
  note(fmt::format("{} outside its nodes after narrowing", to_text(left)));
}

void MemoryWork::end(const Ports& ports) {
  const auto ended = ports.journal.end_step(action_, number_, summary());
  if (!ended) {
    note("the journal could not be written: " + ended.error().message);
  }
  phase_ = Phase::kDone;
}

void MemoryWork::stop(const std::string& why) {
  if (phase_ >= Phase::kLookAgain) {
    return;
  }
  transfer_.stop();
  problem_.clear();
  note(why);
  if (phase_ > Phase::kWiden && !final_nodes_.empty() && wide_nodes_ != final_nodes_) {
    note("its set of memory nodes stays wide");
  }
  phase_ = phase_ == Phase::kBegin ? Phase::kDone : Phase::kEnd;
}

std::string MemoryWork::summary() const {
  if (change_.memory.quotas.empty()) {
    return memory_text(change_) + notes_;
  }
  std::string text =
      fmt::format("memory of '{}': {}", change_.vm_name,
                  transfer_.surveyed() ? describe(transfer_.outcome()) : "not looked at");
  if (!transfer_.cells_unknown_because().empty()) {
    text +=
        fmt::format("; shared out over its homes, because its guest NUMA cells are not told ({})",
                    transfer_.cells_unknown_because());
  }
  if (vanished()) {
    text += "; the VM ended";
  } else if (transfer_.error()) {
    text += "; stopped by an error: " + transfer_.error()->message;
  }
  return text + notes_;
}

}  // namespace vmnuma::migration
