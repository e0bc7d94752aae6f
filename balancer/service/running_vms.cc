// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/running_vms.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

namespace vmnuma::balancer {
namespace {

constexpr std::size_t kMostLibvirtTasks = 16;
/// The time after which a query is repeated without any reason.
constexpr std::chrono::seconds kAskAnew{60};
constexpr std::chrono::seconds kLibvirtAllowed{10};

using Vms = std::vector<VmDescription>;

/// Returns the VMs in `vms` that are not in `others`. A VM that was restarted counts as another.
std::vector<const VmDescription*> without(const Vms& vms, const Vms& others) {
  std::set<std::pair<VmId, std::int32_t>> known;
  for (const VmDescription& vm : others) {
    known.emplace(vm.id, vm.domain_id);
  }
  std::vector<const VmDescription*> found;
  for (const VmDescription& vm : vms) {
    if (!known.contains({vm.id, vm.domain_id})) {
      found.push_back(&vm);
    }
  }
  return found;
}

LogLine news_of(const VmDescription& vm, std::string_view what) {
  return {Severity::kInfo, fmt::format("VM '{}' {}", vm.name, what), {{"VM", vm.name}}};
}

}  // namespace

RunningVms::RunningVms(TaskBoard& board, boost::asio::io_context& service, Host& host,
                       EventLog& log, OnReport on_report)
    : service_(service),
      host_(host),
      log_(log),
      on_report_(std::move(on_report)),
      worker_(board, "libvirt", kMostLibvirtTasks, kLibvirtAllowed) {}

void RunningVms::refresh() {
  if (refreshing_) {
    refresh_again_ = true;
    return;
  }
  asked_at_ = std::chrono::steady_clock::now();
  refreshing_ = worker_.post("asking for the running VMs", [this] {
    Result<Vms> running = host_.refresh();
    for (const std::string& notice : host_.take_notices()) {
      log_.say(Severity::kWarning, notice);
    }
    boost::asio::post(
        service_, [this, running = std::move(running), unreadable = host_.unreadable()]() mutable {
          take(std::move(running), std::move(unreadable));
        });
  });
  is_refused_ = !refreshing_;
}

void RunningVms::retry_if_due(Backoff::Time now) {
  const bool is_due =
      has_failed_ ? backoff_.is_due(now) : asked_at_ && now >= *asked_at_ + kAskAnew;
  if (is_due || is_refused_) {
    refresh();
  }
}

bool RunningVms::post(std::string doing, std::function<void()> task) {
  return worker_.post(std::move(doing), std::move(task));
}

void RunningVms::take(Result<Vms> running, std::vector<VmId> unreadable) {
  refreshing_ = false;
  has_failed_ = !running;
  Report told;
  if (!running) {
    backoff_.failed(std::chrono::steady_clock::now());
    told.problem = running.error().message;
  } else {
    for (const VmDescription* vm : without(running_, *running)) {
      log_.say(news_of(*vm, "has ended"));
    }
    for (const VmDescription* vm : without(*running, running_)) {
      log_.say(news_of(*vm, "runs"));
      told.started.push_back(vm->id);
    }
    running_ = std::move(*running);
    unreadable_ = std::move(unreadable);
  }
  on_report_(told);
  if (std::exchange(refresh_again_, false) && !has_failed_) {
    refresh();
  }
}

}  // namespace vmnuma::balancer
