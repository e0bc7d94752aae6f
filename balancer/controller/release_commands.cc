// SPDX-License-Identifier: Apache-2.0
// Giving VMs back: the commands `release` and `manage`, and the end of the daemon.
#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller/controller.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using placement::ClientId;
using placement::NodeId;
using placement::VmId;

namespace {

constexpr std::string_view kUntil = "it is left alone until 'manage' or its next start";

}  // namespace

/// Gives up the VM's homes and orders what takes it back to how it was found. A sentence about
/// that, and the order's number if one was needed.
DoneView Controller::give_back(const VmRecord& vm, Effects& effects) {
  const VmId id = vm.description.id;
  const placement::VmProcess process = vm.last->process;
  const bool under_way = std::any_of(under_way_.begin(), under_way_.end(), [&](const auto& entry) {
    const auto& relocations = entry.second.action.relocations;
    return std::any_of(
        relocations.begin(), relocations.end(),
        [&](const placement::Relocation& relocation) { return relocation.client.vm == id; });
  });
  if (under_way) {
    effects.cancelled.push_back(id);
  }
  const auto noted = setup_.originals.find(id);
  const Original untouched{process, {}, {}};
  const Original* original = noted != setup_.originals.end() && noted->second.process == process
                                 ? &noted->second
                             : setup_.originals_known ? &untouched
                                                      : nullptr;
  migration::VmChange change = way_back(vm.description, *vm.last, original, ledger_.topology());
  UnderWay order{{placement::Reason::kAdministrator, {}, {}}, {}, {}, false, true};
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    const ClientId client{id, static_cast<std::int32_t>(index)};
    change.homes.push_back({client.index, vm.clients[index].home, NodeId{}});
    order.action.relocations.push_back({client, placement::kNoNode, placement::kNoNode, {}});
    why_here_.erase(client);
    ledger_.forget_home(client);
  }
  setup_.released[id] = process;
  foreign_.erase(id);
  narrow_.erase(id);
  rests_.erase(id);
  forget_homes_of(id, effects);

  DoneView done{fmt::format("VM '{}' is given back", vm.description.name), std::nullopt};
  if (original == nullptr) {
    done.message +=
        "; how it was found is not known, so its threads may run on any CPU of the host";
  } else if (change.pins.empty() && change.memory.allowed_after.empty()) {
    done.message += "; its pins are as they were found";
  } else {
    done.message +=
        fmt::format("; {} of its threads are pinned as they were found", change.pins.size());
  }
  if (!change.memory.quotas.empty()) {
    done.message +=
        fmt::format("; its memory goes back to nodes {}, which it is limited to after that",
                    placement::to_list(change.memory.allowed_after));
    ledger_.transfer_began(id);
  }
  if (has_changed_memory_of(id)) {
    done.message += "; its memory limits, too";
  }
  if (!change.pins.empty() || !change.memory.allowed_after.empty()) {
    done.action = next_action_++;
    if (!change.pins.empty()) {
      ledger_.set_moving(id, true);
    }
    under_way_.emplace(*done.action, std::move(order));
    effects.orders.push_back({*done.action,
                              snapshot_.epoch,
                              placement::Reason::kAdministrator,
                              {std::move(change)},
                              {}});
  }
  effects.log.push_back({Severity::kNotice, done.message, {{"VM", vm.description.name}}});
  return done;
}

Result<Answer> Controller::release(const ReleaseRequest& request, Effects& effects) {
  if (!acts()) {
    return failure(ErrorCode::kUnsupported,
                   fmt::format("the daemon is in mode {}, no pin is changed", name_of(mode())));
  }
  if (request.vm) {
    const Result<const VmRecord*> vm = find_vm(*request.vm);
    if (!vm) {
      return tl::unexpected(vm.error());
    }
    if (setup_.released.contains((*vm)->description.id)) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("VM '{}' is released already", *request.vm));
    }
    if (!(*vm)->last) {
      return failure(
          ErrorCode::kBusy,
          fmt::format("VM '{}' was only just seen, ask again after the next epoch", *request.vm));
    }
    DoneView done = give_back(**vm, effects);
    done.message += fmt::format("; {}", kUntil);
    effects.released = setup_.released;
    steer_memory(effects);
    return Answer(std::move(done));
  }
  std::size_t given = 0;
  std::size_t unread = 0;
  for (const auto& [id, vm] : ledger_.vms()) {
    if (setup_.released.contains(id)) {
      continue;
    }
    if (!vm.last) {
      ++unread;
      continue;
    }
    (void)give_back(vm, effects);  // each is logged
    ++given;
  }
  effects.released = setup_.released;
  steer_memory(effects);
  std::string message = fmt::format(
      "{} VMs are given back; each is left alone until 'manage' or its next start", given);
  if (unread > 0) {
    message += fmt::format("; {} were only just seen and are not", unread);
  }
  return Answer(DoneView{std::move(message), std::nullopt});
}

Result<Answer> Controller::manage(const ManageRequest& request, Effects& effects) {
  std::vector<VmId> taken;
  if (request.vm) {
    const Result<const VmRecord*> vm = find_vm(*request.vm);
    if (!vm) {
      return tl::unexpected(vm.error());
    }
    taken.push_back((*vm)->description.id);
    if (!setup_.released.contains(taken.front())) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("VM '{}' is managed already", *request.vm));
    }
  } else {
    for (const auto& [id, process] : setup_.released) {
      taken.push_back(id);
    }
  }
  for (const VmId& id : taken) {
    setup_.released.erase(id);
    repairs_.erase(id);
    adopt_homes(id, effects);
  }
  effects.released = setup_.released;
  const std::string message = request.vm ? fmt::format("VM '{}' is managed again", *request.vm)
                                         : fmt::format("{} VMs are managed again", taken.size());
  effects.log.push_back({Severity::kNotice, message, {}});
  return Answer(DoneView{message, std::nullopt});
}

void Controller::handle(const Stopping& event, Effects& effects) {
  if (!event.restore || !reaches_vms()) {
    return;
  }
  effects.pause_transfers = false;  // what gives VMs back must not wait
  for (const auto& [id, vm] : ledger_.vms()) {
    if (vm.last && !setup_.released.contains(id)) {
      (void)give_back(vm, effects);  // logged; after the next start they are managed again
    }
  }
  take(memory_steering_.give_all_back(), effects);
}

/// A VM that was released and has started anew is managed again.
void Controller::end_releases(Effects& effects) {
  const auto is_over = [&](const auto& entry) {
    const VmRecord* vm = ledger_.find(entry.first);
    return vm == nullptr || (vm->last && vm->last->process != entry.second);
  };
  if (std::none_of(setup_.released.begin(), setup_.released.end(), is_over)) {
    return;
  }
  std::erase_if(setup_.released, is_over);
  effects.released = setup_.released;
}

}  // namespace vmnuma::balancer
