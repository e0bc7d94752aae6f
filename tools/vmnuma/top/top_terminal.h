// SPDX-License-Identifier: Apache-2.0
/// The terminal below `vmnuma top`, as an interface.
#pragma once

#include <chrono>
#include <vector>

#include "tools/vmnuma/text/screen.h"
#include "tools/vmnuma/top/top_state.h"

namespace vmnuma::tools {

struct TopEvent {
  enum class Kind { kKey, kClick, kTick, kResized, kStopped };
  Kind kind{};
  KeyPress key;         ///< for kKey
  std::size_t row = 0;  ///< for kClick, from the top
};

class TopTerminal {
 public:
  TopTerminal() = default;
  TopTerminal(const TopTerminal&) = delete;
  TopTerminal& operator=(const TopTerminal&) = delete;
  virtual ~TopTerminal() = default;

  [[nodiscard]] virtual ScreenSize size() const = 0;
  virtual void show(const std::vector<Line>& lines) = 0;
  /// Waits for the next event, which is kTick when `period` has passed since the last kTick or the
  /// first call.
  [[nodiscard]] virtual TopEvent wait(std::chrono::milliseconds period) = 0;
};

}  // namespace vmnuma::tools
