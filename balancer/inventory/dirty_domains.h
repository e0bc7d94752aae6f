// SPDX-License-Identifier: Apache-2.0
/// The domains that must be read again.
///
/// Problem: events come in bursts, on libvirt's thread, while another thread reads domains slowly.
/// Approach: a set of marks and one wake-up per batch. Events only mark; the reader takes all marks
/// at once.
///
/// Properties:
///  - a mark made after take() is seen by the next take();
///  - the callback runs once between two take()s, however many marks there are;
///  - after mute() it never runs again.
#pragma once

#include <functional>
#include <mutex>
#include <set>

#include "placement/model/ids.h"

namespace vmnuma::balancer {

/// All functions from any thread.
class DirtyDomains {
 public:
  struct Marks {
    bool all = false;  ///< the list of domains itself may be incomplete
    std::set<VmId> domains;
  };

  /// `on_dirty` runs in the marking thread and should only notify the reader. It must not call
  /// mute().
  explicit DirtyDomains(std::function<void()> on_dirty) : on_dirty_(std::move(on_dirty)) {}

  void mark(const VmId& domain);
  void mark_all();

  /// Returns the marks and starts a new batch.
  [[nodiscard]] Marks take();

  /// Puts back marks that could not be processed, without a wake-up: the caller knows about them.
  void put_back(const Marks& marks);

  /// Waits for a running callback; none starts afterwards.
  void mute();

 private:
  void announce();

  std::mutex marks_mutex_;
  Marks marks_;
  bool announced_ = false;

  std::mutex callback_mutex_;
  std::function<void()> on_dirty_;
};

}  // namespace vmnuma::balancer
