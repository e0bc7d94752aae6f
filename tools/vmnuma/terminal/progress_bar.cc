// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/progress_bar.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

constexpr std::int64_t kCells = 20;
constexpr std::size_t kWidestName = 30;
constexpr const char* kClearLine = "\r\x1b[K";  // ECMA-48 EL
constexpr const char* kGreen = "\x1b[32m";      // ECMA-48 SGR
constexpr const char* kPlain = "\x1b[0m";

}  // namespace

std::string progress_line(const std::string& what, std::int64_t done, std::int64_t all,
                          const std::string& note) {
  std::string line = shortened(printable(what), kWidestName);
  if (all > 0) {
    const std::int64_t reached = std::clamp<std::int64_t>(done, 0, all);
    // The product of bytes would overflow 64 bits; with doubles the rounding is invisible.
    const double share = static_cast<double>(reached) / static_cast<double>(all);
    const auto cells = static_cast<std::size_t>(share * kCells);
    line += fmt::format("  [{}{}]  {:>3} %", std::string(cells, '#'),
                        std::string(kCells - cells, '.'), static_cast<int>(share * 100));
  }
  if (!note.empty()) {
    line += "  " + printable(note);
  }
  return first_columns(line, kTerminalWidth - 1);  // leaves a column for the cursor
}

ProgressBar::ProgressBar(const Context& context, std::string what)
    : err_(context.surroundings.err),
      shown_(context.surroundings.err_is_terminal && !context.invocation.json &&
             !context.invocation.watch),
      colours_(context.surroundings.err_colours),
      what_(std::move(what)) {}

void ProgressBar::show(std::int64_t done, std::int64_t all, const std::string& note) {
  if (!shown_) {
    return;
  }
  std::string line = progress_line(what_, done, all, note);
  if (line == line_) {
    return;
  }
  line_ = line;
  const std::size_t first = line.find('#');
  const std::size_t last = line.find_first_of(".]", first);
  if (colours_ && first != std::string::npos && last != std::string::npos) {
    line.insert(last, kPlain);
    line.insert(first, kGreen);
  }
  err_ << kClearLine << line << std::flush;
}

void ProgressBar::hide() {
  if (!line_.empty()) {
    err_ << kClearLine << std::flush;
    line_.clear();
  }
}

}  // namespace vmnuma::tools
