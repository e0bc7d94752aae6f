// SPDX-License-Identifier: Apache-2.0
#include "balancer/inventory/dirty_domains.h"

#include <utility>

namespace vmnuma::balancer {

void DirtyDomains::mark(const VmId& domain) {
  put_back({.all = false, .domains = {domain}});
  announce();
}

void DirtyDomains::mark_all() {
  put_back({.all = true, .domains = {}});
  announce();
}

DirtyDomains::Marks DirtyDomains::take() {
  const std::lock_guard lock(marks_mutex_);
  announced_ = false;
  return std::exchange(marks_, {});
}

void DirtyDomains::put_back(const Marks& marks) {
  const std::lock_guard lock(marks_mutex_);
  marks_.all = marks_.all || marks.all;
  marks_.domains.insert(marks.domains.begin(), marks.domains.end());
}

void DirtyDomains::mute() {
  const std::lock_guard lock(callback_mutex_);
  on_dirty_ = nullptr;
}

void DirtyDomains::announce() {
  {
    const std::lock_guard lock(marks_mutex_);
    if (std::exchange(announced_, true)) {
      return;
    }
  }
  const std::lock_guard lock(callback_mutex_);
  if (on_dirty_) {
    on_dirty_();
  }
}

}  // namespace vmnuma::balancer
