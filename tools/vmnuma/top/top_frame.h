// SPDX-License-Identifier: Apache-2.0
/// What `vmnuma top` shows, as lines of text. Pure.
///
/// Problem: the screen must be right at every size, and not all sizes can be checked by eye.
/// Approach: the screen is a pure function of the daemon's answers, the keys pressed and the
/// terminal's size; the terminal only displays it. Terms: *cell*, a bar and the same figure in
/// digits; *head*, the lines about the whole host. Properties:
///  - a frame has exactly as many lines as the terminal, none wider than it;
///  - the selected client is always among the rows shown;
///  - what does not fit is counted, never silently left out;
///  - control characters in names do not reach the terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "tools/vmnuma/text/screen.h"
#include "tools/vmnuma/top/top_host.h"
#include "tools/vmnuma/top/top_past.h"
#include "tools/vmnuma/top/top_state.h"

namespace vmnuma::tools {

/// What is known about the VM being viewed.
struct TopDetail {
  Result<balancer::ExplainView> explain;
  Result<balancer::HistoryView> history;
};

struct TopData {
  TopHost host;
  std::string problem;  ///< why `host` is outdated; empty if it is not
  std::optional<TopDetail> detail;
  std::string answer = {};  ///< the daemon's answer to the last command; until the next key
  TopPast past = {};
};

/// The whole screen.
[[nodiscard]] std::vector<Line> top_frame(const TopData& data, const TopState& state,
                                          ScreenSize size);

/// The client in this row of the host page; nothing on other pages, and while something is being
/// typed.
[[nodiscard]] std::optional<TopClient> client_at(const TopData& data, const TopState& state,
                                                 ScreenSize size, std::size_t row);

/// The host page without a terminal: all nodes and clients, no keys, and no name cut.
[[nodiscard]] std::string top_text(const TopHost& host);

/// How far a page of text can be scrolled on a terminal of this size.
[[nodiscard]] std::size_t most_scrolled(const TopData& data, const TopState& state,
                                        ScreenSize size);

}  // namespace vmnuma::tools
