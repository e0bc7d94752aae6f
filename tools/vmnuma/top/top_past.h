// SPDX-License-Identifier: Apache-2.0
/// Keeps what `vmnuma top` has seen in the last ten minutes, and draws it as sparklines. Pure.
///
/// Terms: *sparkline* - a row of characters whose heights show a figure over time, the newest on
/// the right.
///
/// Properties:
///  - no sparkline is wider than allowed;
///  - an epoch counts once, no matter how often it is seen;
///  - what was seen before a step back in a recording is forgotten;
///  - an unknown value is a blank, never a zero.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "balancer/model/view.h"
#include "tools/vmnuma/text/screen.h"
#include "tools/vmnuma/top/top_host.h"

namespace vmnuma::tools {

/// A client in one epoch, in thousandths: load_permille() and its siblings in top_state.h.
struct TopMoment {
  balancer::Figure load;
  balancer::Figure owed;
  balancer::Figure local;
  bool operator==(const TopMoment&) const = default;
};

class TopPast {
 public:
  /// Adds the host's epoch, unless it was already added. Forgets clients that are gone.
  void add(const TopHost& host);

  /// Returns a client's moments, oldest first, at most ten minutes; none if the client was not
  /// present in the last epoch.
  [[nodiscard]] std::vector<TopMoment> of(const std::string& vm_uuid, std::int32_t client) const;

 private:
  struct Client {
    std::string vm_uuid;
    std::int32_t client = 0;
    auto operator<=>(const Client&) const = default;
  };
  std::map<Client, std::deque<TopMoment>> clients_;
  std::int64_t epoch_ = -1;
};

/// Returns a sparkline of at most `columns` columns; if several moments share a column, it shows
/// their mean. In blocks (Unicode, U+2581 to U+2588), or in ASCII.
[[nodiscard]] std::string sparkline(const std::vector<balancer::Figure>& permille,
                                    std::size_t columns, bool blocks);

/// Returns a client's load, what it was owed and its locality, on one line each with minimum and
/// maximum; no line for a figure that was never known.
[[nodiscard]] std::vector<Line> past_lines(const std::vector<TopMoment>& past, ScreenSize size);

}  // namespace vmnuma::tools
