// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_cells.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/top/top_state.h"

namespace vmnuma::tools {

using balancer::Figure;

namespace {

constexpr std::size_t kNumberWidth = 4;   // HOME or CPUS, and VCPU
constexpr std::size_t kPercentWidth = 5;  // " 100%"
constexpr std::size_t kBytesWidth = 11;   // " 1023.9 GiB"
// Three cells in per cent, one in bytes, two numbers, and the gaps between the seven columns.
constexpr std::size_t kFixedWidth = 3 * kPercentWidth + kBytesWidth + 2 * kNumberWidth + 6;
constexpr std::size_t kBars = 4;
constexpr std::size_t kNarrowestName = 16;
constexpr std::size_t kWidestVmName = 40;
constexpr std::size_t kWidestBar = 24;

/// The shares from which a figure deserves attention, and from which it is bad.
struct Limits {
  std::int64_t warning = 0;
  std::int64_t bad = 0;
  bool low_is_bad = false;
};
constexpr Limits kLoadLimits{800, 1000};
constexpr Limits kNoLimits{1'000'000,
                           1'000'000};  // used for load: a busy client is no worse than an idle one
constexpr Limits kOwedLimits{1, 100};   // the balancer acts at 10 % by default
constexpr Limits kMemoryLimits{900, 970};
constexpr Limits kLocalLimits{799, 499, /*low_is_bad=*/true};

Style load_style(std::int64_t permille, const Limits& limits) {
  if (limits.low_is_bad) {
    return permille <= limits.bad       ? Style::kBad
           : permille <= limits.warning ? Style::kWarning
                                        : Style::kGood;
  }
  return permille >= limits.bad       ? Style::kBad
         : permille >= limits.warning ? Style::kWarning
                                      : Style::kGood;
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

/// Returns "instan...0002a/0", because names often differ only near their end.
std::string without_middle(const std::string& text, std::size_t width) {
  constexpr std::size_t kDots = 3;
  const std::size_t columns = width_of(text);
  if (columns <= width || width <= kDots) {
    return text;
  }
  const std::size_t front = (width - kDots) / 2;
  const std::size_t back = width - kDots - front;
  std::string end = text.substr(first_columns(text, columns - back).size());
  if (width_of(end) > back) {  // a wide character would be cut in half
    end = text.substr(first_columns(text, columns - back + 1).size());
  }
  return first_columns(text, front) + "..." + end;
}

std::string left(const std::string& text, std::size_t width) {
  const std::string shown = without_middle(text, width);
  return shown + std::string(width - std::min(width, width_of(shown)), ' ');
}

/// Adds a bar and its digits, after a gap.
void add_bar(Line& line, const std::string& drawn, Style style, const std::string& digits,
             std::size_t digits_width) {
  const std::size_t full = std::min(drawn.find_first_not_of('|'), drawn.size());
  line.push_back({" "});
  line.push_back({drawn.substr(0, full), style});
  line.push_back({drawn.substr(full), Style::kDim});
  line.push_back({right(digits, digits_width)});
}

void add_cell(Line& line, const Figure& permille, const Limits& limits, const std::string& digits,
              std::size_t digits_width, const TopGrid& grid) {
  add_bar(line, permille ? bar(*permille, grid.bar) : std::string(grid.bar, ' '),
          load_style(permille.value_or(0), limits), digits, digits_width);
}

std::string percent_cell(const Figure& permille) {
  return permille ? fmt::format("{}%", std::min<std::int64_t>(*permille / 10, 999)) : "-";
}

/// Adds what VMs want of the node, followed by what other processes use.
void add_load(Line& line, const balancer::NodeView& node, const TopGrid& grid) {
  if (!node.vm_load_pct || !node.non_vm_pct) {
    add_bar(line, std::string(grid.bar, ' '), Style::kGood, "-", kPercentWidth);
    return;
  }
  const std::int64_t wanted = *node.vm_load_pct * 10;
  const std::int64_t others = *node.non_vm_pct * 10;
  add_bar(line, bar(wanted, others, grid.bar), load_style(wanted + others, kLoadLimits),
          percent_cell(wanted), kPercentWidth);
}

void add_percent(Line& line, const Figure& permille, const Limits& limits, const TopGrid& grid) {
  add_cell(line, permille, limits, percent_cell(permille), kPercentWidth, grid);
}

std::string home_cell(const TopClient& client) {
  return client.home_assumed ? fmt::format("({})", node_text(client.home)) : node_text(client.home);
}

std::string shown_name(const TopClient& client) {
  return fmt::format("{}/{}", printable(client.vm), client.client);
}

std::string shown_name(const balancer::TransferView& transfer) {
  return fmt::format("> {}/{}", printable(transfer.vm), transfer.client);
}

/// Returns the locality of the memory of the clients that live on the node.
Figure locality_on(const TopHost& host, NodeId node) {
  std::int64_t local = 0;
  std::int64_t all = 0;
  for (const TopClient& client : host.clients) {
    if (client.home == node && client.local_bytes && client.memory_bytes) {
      local += *client.local_bytes;
      all += *client.memory_bytes;
    }
  }
  return share_permille(local, all);
}

}  // namespace

TopGrid grid_for(std::size_t columns) {
  TopGrid grid{kNarrowestName, 0};
  if (columns < kFixedWidth + kNarrowestName + kBars) {
    return grid;
  }
  // A third of the rest is for names, once bars are as wide as at 80 columns.
  const std::size_t rest = columns - kFixedWidth - kNarrowestName;
  grid.bar = std::min(rest <= 24 ? rest / kBars : 6 + (rest - 24) * 2 / 3 / kBars, kWidestBar);
  grid.name = std::min(columns - kFixedWidth - kBars * grid.bar, kWidestVmName);
  return grid;
}

TopGrid grid_with_names_of(const TopHost& host) {
  TopGrid grid = grid_for(kTerminalWidth);
  for (const TopClient& client : host.clients) {
    grid.name = std::max(grid.name, width_of(shown_name(client)));
  }
  for (const balancer::TransferView& transfer : host.status.transfers) {
    grid.name = std::max(grid.name, width_of(shown_name(transfer)));
  }
  return grid;
}

std::string bar(std::int64_t permille, std::size_t width) {
  const std::int64_t shown = std::clamp<std::int64_t>(permille, 0, 1000);
  const auto columns = static_cast<std::int64_t>(width);
  const std::int64_t full =
      shown == 0 || columns == 0 ? 0 : std::max<std::int64_t>(shown * columns / 1000, 1);
  return std::string(static_cast<std::size_t>(full), '|') +
         std::string(static_cast<std::size_t>(columns - full), '.');
}

std::string bar(std::int64_t permille, std::int64_t others_permille, std::size_t width) {
  const auto part = [](std::int64_t share) { return std::clamp<std::int64_t>(share, 0, 1000); };
  std::string drawn = bar(permille, width);
  const auto both = static_cast<std::size_t>(std::count(drawn.begin(), drawn.end(), '|'));
  const std::string whole = bar(part(permille) + part(others_permille), width);
  auto end = static_cast<std::size_t>(std::count(whole.begin(), whole.end(), '|'));
  auto begin = both;
  if (part(others_permille) > 0 && width > 1) {  // however small, or hidden by the first part
    end = std::min(std::max(end, begin + 1), width);
    begin = std::min(begin, end - 1);
  }
  std::fill(drawn.begin() + static_cast<std::ptrdiff_t>(begin),
            drawn.begin() + static_cast<std::ptrdiff_t>(std::max(begin, end)), '#');
  return drawn;
}

std::string header_text(std::string_view first, std::string_view second, const TopGrid& grid) {
  return fmt::format("{:<{}} {:>4} {:>4} {:<{}} {:<{}} {:<{}} {}", first, grid.name, second, "VCPU",
                     "LOAD", grid.bar + kPercentWidth, "OWED", grid.bar + kPercentWidth, "MEMORY",
                     grid.bar + kBytesWidth, "LOCAL");
}

Line node_line(const TopHost& host, const balancer::NodeView& node, const TopGrid& grid) {
  Line line;
  line.push_back({left(fmt::format("node {}", node_text(node.node)), grid.name) + " " +
                  right(std::to_string(node.cpus), kNumberWidth) + " " +
                  right(figure_text(node.vcpus), kNumberWidth)});
  add_load(line, node, grid);
  add_percent(line, share_permille(node.owed_ms, node.capacity_ms), kOwedLimits, grid);
  add_cell(line, share_permille(used_bytes(node), node.memory_bytes), kMemoryLimits,
           bytes_text(used_bytes(node)), kBytesWidth, grid);
  add_percent(line, locality_on(host, node.node), kLocalLimits, grid);
  return line;
}

Line client_line(const TopHost& host, const TopClient& client, const TopGrid& grid) {
  Line line;
  line.push_back({left(shown_name(client), grid.name) + (client.moving ? "*" : " ") +
                  right(home_cell(client), kNumberWidth) + " " +
                  right(std::to_string(client.vcpus), kNumberWidth)});
  add_percent(line, load_permille(client, host.epoch_length_ms), kNoLimits, grid);
  add_percent(line, owed_permille(client), kOwedLimits, grid);
  const auto home = std::ranges::find(host.nodes, client.home, &balancer::NodeView::node);
  add_cell(line,
           home != host.nodes.end() ? share_permille(client.memory_bytes, home->memory_bytes)
                                    : std::nullopt,
           kMemoryLimits, bytes_text(client.memory_bytes), kBytesWidth, grid);
  add_percent(line, local_permille(client), kLocalLimits, grid);
  return line;
}

Line transfer_line(const balancer::TransferView& transfer, const TopGrid& grid) {
  const Figure done =
      share_permille(transfer.bytes_done, transfer.bytes_done + transfer.bytes_remaining);
  std::string amount = "amount not counted yet";
  if (done) {
    amount = fmt::format("{}, {} left", percent_cell(done), bytes_text(transfer.bytes_remaining));
  }
  if (transfer.rate_bytes_per_second > 0) {
    amount += fmt::format(", {}/s", bytes_text(transfer.rate_bytes_per_second));
  }
  return {{left(shown_name(transfer), grid.name) + fmt::format(" to {} ", nodes_text(transfer.to))},
          {bar(done.value_or(0), grid.bar + kPercentWidth), Style::kGood},
          {fmt::format(" {}, {}", amount, printable(transfer.state))}};
}

}  // namespace vmnuma::tools
