// SPDX-License-Identifier: Apache-2.0
/// Composes the screen of `vmnuma top` as lines of text. Pure.
///
/// Problem: the screen must be right at every size, and not all sizes can be checked by eye.
/// Approach: the screen is a pure function of the daemon's answers, the keys pressed and the
/// terminal's size; the terminal only displays it.
///
/// Terms: *cell* - a bar and the same figure in digits. *Head* - the lines about the whole host.
///
/// Properties:
///  - a frame has exactly as many lines as the terminal, and none is wider;
///  - the selected client is always among the rows shown;
///  - rows that do not fit are counted, never silently left out;
///  - control characters in names do not reach the terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "balancer/model/view.h"
#include "tools/vmnuma/arguments/failure.h"
#include "tools/vmnuma/text/screen.h"
#include "tools/vmnuma/top/top_host.h"
#include "tools/vmnuma/top/top_past.h"
#include "tools/vmnuma/top/top_state.h"

namespace vmnuma::tools {

/// What is known about the VM that is viewed.
struct TopDetail {
  OrFailure<balancer::ExplainView> explain;
  OrFailure<balancer::HistoryView> history;
};

struct TopData {
  TopHost host;
  std::string problem;  ///< why `host` is outdated; empty if it is not
  std::optional<TopDetail> detail;
  std::string answer = {};  ///< the daemon's answer to the last command; until the next key
  TopPast past = {};
};

/// Returns the whole screen.
[[nodiscard]] std::vector<Line> top_frame(const TopData& data, const TopState& state,
                                          ScreenSize size);

/// Returns the client in this row of the host page; nothing on other pages, or while something is
/// being typed.
[[nodiscard]] std::optional<TopClient> client_at(const TopData& data, const TopState& state,
                                                 ScreenSize size, std::size_t row);

/// Returns the host page for use without a terminal: all nodes and clients, no keys, and full
/// names.
[[nodiscard]] std::string top_text(const TopHost& host);

/// Returns how far a page of text can be scrolled on a terminal of this size.
[[nodiscard]] std::size_t most_scrolled(const TopData& data, const TopState& state,
                                        ScreenSize size);

}  // namespace vmnuma::tools
