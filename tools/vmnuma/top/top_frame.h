// SPDX-License-Identifier: Apache-2.0
/// What `vmnuma top` shows, as lines of text. Pure.
///
/// Problem: a screen that people stare at must be right at every size, and nobody can look at all
/// of them. Approach: the screen is a function of what the daemon said, of what was pressed and of
/// the terminal's size; the terminal only puts it on the glass. Terms: *cell*, a bar and the same
/// figure in digits; *head*, the lines about the whole host. Properties:
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

/// What is known of the VM that is looked at.
struct TopDetail {
  Result<balancer::ExplainView> explain;
  Result<balancer::HistoryView> history;
};

struct TopData {
  TopHost host;
  std::string problem;  ///< why `host` is not of now; empty if it is
  std::optional<TopDetail> detail;
  std::string answer = {};  ///< of the daemon, to what was commanded last; until the next key
  TopPast past = {};
};

/// The whole screen.
[[nodiscard]] std::vector<Line> top_frame(const TopData& data, const TopState& state,
                                          ScreenSize size);

/// The client that the page of the host shows in this row of the screen; nothing on other pages,
/// and while something is being typed.
[[nodiscard]] std::optional<TopClient> client_at(const TopData& data, const TopState& state,
                                                 ScreenSize size, std::size_t row);

/// The page of the host without a terminal: all nodes and clients, no keys.
[[nodiscard]] std::string top_text(const TopHost& host);

/// How far a page of text can be scrolled on a terminal of this size.
[[nodiscard]] std::size_t most_scrolled(const TopData& data, const TopState& state,
                                        ScreenSize size);

}  // namespace vmnuma::tools
