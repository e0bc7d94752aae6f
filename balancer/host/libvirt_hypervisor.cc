// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/libvirt_hypervisor.h"

#include <cstdlib>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <libvirt/libvirt.h>

#include "balancer/host/domain_xml.h"
#include "balancer/host/errors.h"
#include "balancer/host/outside_xml.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

LibvirtHypervisor::LibvirtHypervisor(std::shared_ptr<EventLoop> loop, LibvirtOptions options,
                                     std::function<void()> on_dirty)
    : loop_(std::move(loop)),
      options_(std::move(options)),
      control_(*loop_, options_.uri),
      dirty_(std::make_shared<DirtyDomains>(std::move(on_dirty))) {}

LibvirtHypervisor::~LibvirtHypervisor() {
  dirty_->mute();
}

void LibvirtHypervisor::mark_dirty(const VmId& vm) {
  dirty_->mark(vm);
}

std::vector<std::string> LibvirtHypervisor::take_notices() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notices_, {});
}

std::vector<VmId> LibvirtHypervisor::unreadable() const {
  const std::lock_guard lock(mutex_);
  return unreadable_;
}

Result<std::vector<VmDescription>> LibvirtHypervisor::refresh() {
  const std::lock_guard lock(mutex_);
  const std::set<std::string> known_problems = std::exchange(problems_, {});
  VMNUMA_RETURN_IF_ERROR(ensure_connected());
  DirtyDomains::Marks marks = dirty_->take();
  if (marks.all) {
    if (auto listed = list_running(marks); !listed) {
      dirty_->put_back(marks);
      return tl::unexpected<Error>(std::move(listed).error());
    }
  }
  unreadable_.clear();
  for (const VmId& vm : marks.domains) {
    auto description = read(vm);
    if (description) {
      known_.insert_or_assign(vm, std::move(*description));
    } else if (description.error().is_gone()) {
      known_.erase(vm);
    } else if (!connection_->is_open()) {
      dirty_->put_back(marks);
      return tl::unexpected<Error>(std::move(description).error());
    } else {
      dirty_->put_back({.all = false, .domains = {vm}});
      if (!known_.contains(vm)) {
        unreadable_.push_back(vm);
      }
      const std::string problem =
          description.error().message +
          (known_.contains(vm) ? "; its last description is used" : "; it is not managed");
      if (problems_.insert(problem).second && !known_problems.contains(problem)) {
        notices_.push_back(problem);
      }
    }
  }
  std::vector<VmDescription> running;
  running.reserve(known_.size());
  for (const auto& [id, description] : known_) {
    running.push_back(description);
  }
  return running;
}

Result<void> LibvirtHypervisor::ensure_connected() {
  if (connection_ != nullptr && connection_->is_open()) {
    return {};
  }
  events_.reset();
  connection_.reset();
  VMNUMA_ASSIGN_OR_RETURN(auto connection,
                          Connection::open(*loop_, options_.uri, Access::kReadOnly,
                                           [dirty = dirty_] { dirty->mark_all(); }));
  VMNUMA_ASSIGN_OR_RETURN(events_, DomainEvents::subscribe(connection, dirty_));
  connection_ = std::move(connection);
  dirty_->put_back({.all = true, .domains = {}});
  return {};
}

/// Adds every running domain to `marks` and forgets the others.
Result<void> LibvirtHypervisor::list_running(DirtyDomains::Marks& marks) {
  virDomainPtr* list = nullptr;
  const int count =
      virConnectListAllDomains(connection_->get(), &list, VIR_CONNECT_LIST_DOMAINS_ACTIVE);
  if (count < 0) {
    return tl::unexpected<Error>(last_libvirt_error("cannot list the running domains"));
  }
  std::set<VmId> running;
  for (int i = 0; i < count; ++i) {
    const DomainHandle domain(list[i]);
    VmId id;
    if (virDomainGetUUID(domain.get(), id.uuid.data()) == 0) {
      running.insert(id);
    }
  }
  std::free(list);
  std::erase_if(known_, [&](const auto& entry) { return !running.contains(entry.first); });
  marks.domains.insert(running.begin(), running.end());
  return {};
}

Result<VmDescription> LibvirtHypervisor::read(const VmId& vm) const {
  const std::string what = fmt::format("cannot read VM {}", to_text(vm));
  const DomainHandle domain(virDomainLookupByUUID(connection_->get(), vm.uuid.data()));
  if (!domain) {
    return tl::unexpected<Error>(last_libvirt_error(what));
  }
  // Checked without its definition, which need not be readable once it has stopped.
  if (virDomainGetID(domain.get()) == static_cast<unsigned int>(-1)) {
    return failure(ErrorCode::kNotFound, what + ": it does not run");
  }
  const LibvirtText xml(virDomainGetXMLDesc(domain.get(), /*flags=*/0));
  if (!xml) {
    return tl::unexpected<Error>(last_libvirt_error(what));
  }
  auto description = parse_domain_xml(xml.get(), options_.default_huge_page_size);
  if (!description) {
    return failure(std::move(description).error(), what);
  }
  if (description->domain_id < 0) {
    return failure(ErrorCode::kNotFound, what + ": it does not run");
  }
  if (description->numatune_auto && description->numatune_nodes.empty()) {
    description->numatune_nodes = allowed_memory_nodes(domain.get());
  }
  if (description->placement_auto && description->emulator_pin.empty()) {
    description->advised_cpus = advised_cpus(*connection_, domain.get());
  }
  return description;
}

}  // namespace vmnuma::balancer
