// SPDX-License-Identifier: Apache-2.0
#include "migration/memory_work.h"

#include <algorithm>

#include <fmt/format.h>

#include "migration/destinations.h"
#include "migration/steps.h"
#include "placement/model/text.h"

namespace vmnuma::migration {

using placement::Bytes;
using placement::Microseconds;
using placement::NodeId;

namespace {

/// What libvirt may be left to copy when the set of nodes is narrowed: it does so in one go, with
/// its lock held. A little is no reason to stay wide, even of a small VM: libraries that it shares
/// with others are some megabytes of every VM.
constexpr Bytes kMostToNarrow = placement::kMiB * 256;
constexpr Bytes kLittleToNarrow = placement::kMiB * 8;
constexpr std::int64_t kShareToNarrow = 32;

bool is_next_to_nothing(Bytes left, Bytes all) {
  return left < kLittleToNarrow || (left <= kMostToNarrow && left * kShareToNarrow <= all);
}

std::vector<NodeId> homes_of(const VmChange& change) {
  std::vector<NodeId> nodes;
  for (const NodeQuota& quota : change.memory.quotas) {
    nodes.push_back(quota.node);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// The nodes between which pages move. Before the first home it is whatever libvirt has allowed.
std::vector<NodeId> old_and_new_homes_of(const VmChange& change) {
  std::vector<NodeId> nodes = homes_of(change);
  const std::vector<NodeId>& old =
      change.memory.undo_nodes.empty() ? change.memory.allowed_before : change.memory.undo_nodes;
  nodes.insert(nodes.end(), old.begin(), old.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace

MemoryWork::MemoryWork(const VmChange& change, std::int64_t action, std::int32_t number,
                       Microseconds now)
    : change_(change),
      action_(action),
      number_(number),
      began_at_(now),
      transfer_(change.process, change.memory) {}

bool MemoryWork::vanished() const {
  return transfer_.error() && transfer_.error()->code == ErrorCode::kVanished;
}

void MemoryWork::note(const std::string& text) {
  notes_ += "; " + text;
}

TransferStep MemoryWork::step(const Ports& ports, const Limits& limits, Microseconds now,
                              Bytes allowed) {
  const bool mask = change_.memory_mode == placement::MemoryMode::kMask;
  TransferStep done;
  switch (phase_) {
    case Phase::kBegin: {
      const auto begun = ports.journal.begin_step(action_, number_, memory_text(change_));
      if (!begun) {
        transfer_.stop();
        note("not begun, because the journal could not be written: " + begun.error().message);
        phase_ = Phase::kDone;
      } else if (!change_.memory.allowed_after.empty()) {
        phase_ = Phase::kSetNodes;
      } else {
        // A VM that never had a home or a set of nodes may use every node.
        const bool narrow =
            !change_.memory.undo_nodes.empty() || !change_.memory.allowed_before.empty();
        phase_ = mask && narrow ? Phase::kWiden : Phase::kTransfer;
      }
      break;
    }
    case Phase::kSetNodes: {
      const auto set = ports.control.set_memory_nodes(change_.vm, change_.memory.allowed_after);
      if (!set) {
        note("its set of memory nodes could not be changed: " + set.error().message);
      } else if (!change_.memory.quotas.empty()) {
        note("it may use memory nodes " + placement::to_list(change_.memory.allowed_after));
      }
      phase_ = change_.memory.quotas.empty() ? Phase::kEnd : Phase::kTransfer;
      break;
    }
    case Phase::kWiden: {
      const auto widened =
          ports.control.set_memory_nodes(change_.vm, old_and_new_homes_of(change_));
      if (!widened) {
        note("its set of memory nodes could not be widened: " + widened.error().message);
      }
      phase_ = Phase::kTransfer;
      break;
    }
    case Phase::kTransfer:
      done = transfer_.step(ports.mover, limits, now, allowed);
      if (transfer_.finished()) {
        after_transfer();
      }
      break;
    case Phase::kNarrow: {
      const auto narrowed = ports.control.set_memory_nodes(change_.vm, homes_of(change_));
      if (!narrowed) {
        note("its set of memory nodes could not be narrowed: " + narrowed.error().message);
      }
      phase_ = Phase::kLookAgain;
      break;
    }
    case Phase::kLookAgain: {
      const auto ranges = ports.mover.find_ranges(change_.process);
      if (ranges) {
        const std::vector<NodeId> homes = homes_of(change_);
        Bytes left;
        for (const MemoryRange& range : *ranges) {
          for (const NodeBytes& part : range.resident) {
            left +=
                std::binary_search(homes.begin(), homes.end(), part.node) ? Bytes{} : part.bytes;
          }
        }
        note(fmt::format("{} outside its nodes after narrowing", to_text(left)));
      } else {
        note("where its memory is could not be read: " + ranges.error().message);
      }
      phase_ = Phase::kEnd;
      break;
    }
    case Phase::kEnd: {
      const auto ended = ports.journal.end_step(action_, number_, summary());
      if (!ended) {
        note("the journal could not be written: " + ended.error().message);
      }
      phase_ = Phase::kDone;
      break;
    }
    case Phase::kDone:
      break;
  }
  return done;
}

void MemoryWork::after_transfer() {
  const Outcome& outcome = transfer_.outcome();
  phase_ = Phase::kEnd;
  if (change_.memory_mode != placement::MemoryMode::kMask || transfer_.error()) {
    return;
  }
  const Bytes all = outcome.moved + outcome.already_home + outcome.left;
  if (is_next_to_nothing(outcome.left, all)) {
    phase_ = Phase::kNarrow;
  } else {
    note("its set of memory nodes stays wide");
  }
}

void MemoryWork::stop(const std::string& why) {
  if (phase_ == Phase::kEnd || phase_ == Phase::kDone) {
    return;
  }
  transfer_.stop();
  note(why);
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
