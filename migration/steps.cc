// SPDX-License-Identifier: Apache-2.0
#include "migration/steps.h"

#include <algorithm>

#include <fmt/format.h>

#include "placement/base/mapped.h"
#include "placement/model/text.h"

namespace vmnuma::migration {

namespace {

std::string thread_name(const VmChange& change, const PinChange& pin) {
  const std::string thread = pin.thread == PinChange::Thread::kEmulator
                                 ? "emulator"
                                 : thread_text({pin.thread, pin.number});
  return fmt::format("{} of '{}'", thread, change.vm_name);
}

std::string cpus_name(const std::vector<CpuId>& cpus) {
  return cpus.empty() ? "any CPU" : "CPUs " + to_list(cpus);
}

}  // namespace

std::vector<PinStep> pin_steps(const Order& order) {
  std::vector<PinStep> steps;
  for (std::size_t change = 0; change < order.changes.size(); ++change) {
    for (std::size_t pin = 0; pin < order.changes[change].pins.size(); ++pin) {
      steps.push_back({change, pin});
    }
  }
  return steps;
}

std::int32_t pin_number(std::size_t index) {
  return static_cast<std::int32_t>(index + 1);
}

std::int32_t memory_number(const Order& order, std::size_t change) {
  return static_cast<std::int32_t>(pin_steps(order).size() + change + 1);
}

std::int32_t undo_number(const Order& order, std::size_t index) {
  const std::size_t pins = pin_steps(order).size();
  return static_cast<std::int32_t>(pins + order.changes.size() + pins - index);
}

std::string pin_text(const Order& order, PinStep step) {
  const VmChange& change = order.changes[step.change];
  const PinChange& pin = change.pins[step.pin];
  return fmt::format("{} to {}", thread_name(change, pin), cpus_name(pin.after));
}

std::string undo_text(const Order& order, PinStep step) {
  const VmChange& change = order.changes[step.change];
  const PinChange& pin = change.pins[step.pin];
  return fmt::format("{} back to {}", thread_name(change, pin), cpus_name(pin.before));
}

std::string memory_text(const VmChange& change) {
  if (change.memory.quotas.empty()) {
    return fmt::format("memory of '{}' may use nodes {}", change.vm_name,
                       to_list(change.memory.allowed_after));
  }
  std::vector<NodeId> nodes = mapped(change.memory.quotas, &NodeQuota::node);
  return fmt::format("memory of '{}' to {}", change.vm_name, node_or_nodes(nodes));
}

ResumePoint resume_point(const OpenAction& open) {
  const auto pins = static_cast<std::int32_t>(pin_steps(open.order).size());
  const auto last_memory = pins + static_cast<std::int32_t>(open.order.changes.size());
  std::int32_t begun = 0;
  std::int32_t made = 0;
  bool undoing = false;
  for (const JournalStep& step : open.steps) {
    if (step.number > last_memory) {
      undoing = true;
    } else if (step.number <= pins) {
      begun = std::max(begun, step.number);
      made += step.outcome == kStepSucceeded ? 1 : 0;
    }
  }
  if (!undoing && made == pins && !open.steps.empty()) {
    return {ResumePoint::Next::kMoveMemory, 0};
  }
  if (begun == 0) {
    return {ResumePoint::Next::kNothingDone, 0};
  }
  return {ResumePoint::Next::kUndoPins, static_cast<std::size_t>(begun)};
}

}  // namespace vmnuma::migration
