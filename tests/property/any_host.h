// SPDX-License-Identifier: Apache-2.0
/// Generated hosts: every kind of node and VM that the core must cope with, mixed at random.
///
/// A case is three numbers, so that a failing one is short to print and shrinks by losing nodes and
/// VMs: what VM number 7 is like depends on the seed and on 7 only.
#pragma once

#include <cstdint>
#include <ostream>

#include "placement/model/options.h"
#include "placement/model/snapshot.h"
#include "tests/support/property.h"

namespace vmnuma::tests {

struct AnyHost {
  int nodes = 1;
  int vms = 0;
  std::uint64_t seed = 0;
  bool plain = false;  ///< every node and VM in order, nothing under way, no groups

  /// Half of the seeds give the defaults; the others change some thresholds and switches.
  [[nodiscard]] Options options() const;
  [[nodiscard]] Snapshot snapshot() const;
};
std::ostream& operator<<(std::ostream& out, const AnyHost& host);

/// Up to this many nodes and VMs; small ones are as likely as large ones.
[[nodiscard]] rc::Gen<AnyHost> any_host(int most_nodes, int most_vms);
/// The same, with everything in order.
[[nodiscard]] rc::Gen<AnyHost> plain_host(int most_nodes, int most_vms);

/// A clock that stands still: no search ends because the machine was slow.
[[nodiscard]] inline double no_time() {
  return 0;
}

/// Numbers drawn from a seed, the same on every machine.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t which) : state_(seed * 0x9E3779B97F4A7C15U + which) {}
  /// From 0 to most, both included.
  std::int64_t up_to(std::int64_t most);
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + up_to(most - least);
  }
  bool one_in(std::int64_t chances) { return up_to(chances - 1) == 0; }

 private:
  std::uint64_t state_;
};

/// From any seed; a case that fails is not made smaller by it.
[[nodiscard]] inline Draw any_draw() {
  return Draw(*rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U)), 0);
}

}  // namespace vmnuma::tests
