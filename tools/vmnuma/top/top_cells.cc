// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_cells.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "tools/vmnuma/text.h"
#include "tools/vmnuma/top/top_state.h"

namespace vmnuma::tools {

namespace {

constexpr std::size_t kNumberWidth = 4;   // HOME or CPUS, and VCPU
constexpr std::size_t kPercentWidth = 5;  // " 100%"
constexpr std::size_t kBytesWidth = 11;   // " 1023.9 GiB"
// Three cells in per cent, one in bytes, two numbers, and the gaps between the seven columns.
constexpr std::size_t kFixedWidth = 3 * kPercentWidth + kBytesWidth + 2 * kNumberWidth + 6;
constexpr std::size_t kBars = 4;
constexpr std::size_t kNarrowestName = 16;
constexpr std::size_t kWidestName = 40;
constexpr std::size_t kWidestBar = 24;

/// From which share on a figure is worth a look, and from which it is bad.
struct Limits {
  std::int64_t warning = 0;
  std::int64_t bad = 0;
  bool low_is_bad = false;
};
constexpr Limits kLoadLimits{800, 1000};
constexpr Limits kNoLimits{1'000'000, 1'000'000};  // a busy client is as good as an idle one
constexpr Limits kOwedLimits{1, 100};              // 10 % is where the balancer acts by default
constexpr Limits kMemoryLimits{900, 970};
constexpr Limits kLocalLimits{799, 499, /*low_is_bad=*/true};

Style style_of(std::int64_t permille, const Limits& limits) {
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

std::string left(const std::string& text, std::size_t width) {
  const std::string shown = shortened(text, width);
  return shown + std::string(width - std::min(width, width_of(shown)), ' ');
}

/// A bar and its digits, after a gap.
void add_cell(Line& line, std::optional<std::int64_t> permille, const Limits& limits,
              const std::string& digits, std::size_t digits_width, const TopGrid& grid) {
  const std::string drawn = permille ? bar(*permille, grid.bar) : std::string(grid.bar, ' ');
  const std::size_t full = std::min(drawn.find_first_not_of('|'), drawn.size());
  line.push_back({" "});
  line.push_back({drawn.substr(0, full), style_of(permille.value_or(0), limits)});
  line.push_back({drawn.substr(full), Style::kDim});
  line.push_back({right(digits, digits_width)});
}

std::string percent(std::optional<std::int64_t> permille) {
  return permille ? fmt::format("{}%", std::min<std::int64_t>(*permille / 10, 999)) : "-";
}

void add_percent(Line& line, std::optional<std::int64_t> permille, const Limits& limits,
                 const TopGrid& grid) {
  add_cell(line, permille, limits, percent(permille), kPercentWidth, grid);
}

const TopNode* find_node(const TopHost& host, placement::NodeId id) {
  for (const TopNode& node : host.nodes) {
    if (node.node == id) {
      return &node;
    }
  }
  return nullptr;
}

/// Of the memory of the clients that live on the node.
std::optional<std::int64_t> locality_of(const TopHost& host, placement::NodeId node) {
  std::int64_t local = 0;
  std::int64_t all = 0;
  for (const TopClient& client : host.clients) {
    if (client.home == node && client.local_bytes && client.memory_bytes) {
      local += *client.local_bytes;
      all += *client.memory_bytes;
    }
  }
  return all > 0 ? std::optional(share_permille(local, all)) : std::nullopt;
}

}  // namespace

TopGrid grid_for(std::size_t columns) {
  TopGrid grid{kNarrowestName, 0};
  if (columns < kFixedWidth + kNarrowestName + kBars) {
    return grid;
  }
  // A third of what is left goes to names once bars are as wide as at 80 columns.
  const std::size_t rest = columns - kFixedWidth - kNarrowestName;
  grid.bar = std::min(rest <= 24 ? rest / kBars : 6 + (rest - 24) * 2 / 3 / kBars, kWidestBar);
  grid.name = std::min(columns - kFixedWidth - kBars * grid.bar, kWidestName);
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

std::string header_text(std::string_view first, std::string_view second, const TopGrid& grid) {
  return fmt::format("{:<{}} {:>4} {:>4} {:<{}} {:<{}} {:<{}} {}", first, grid.name, second, "VCPU",
                     "LOAD", grid.bar + kPercentWidth, "OWED", grid.bar + kPercentWidth, "MEMORY",
                     grid.bar + kBytesWidth, "LOCAL");
}

Line node_line(const TopHost& host, const TopNode& node, const TopGrid& grid) {
  Line line;
  line.push_back({left(fmt::format("node {}", node_text(node.node)), grid.name) + " " +
                  right(std::to_string(node.cpus), kNumberWidth) + " " +
                  right(std::to_string(node.vcpus), kNumberWidth)});
  const bool known = node.known;
  add_percent(line, known ? std::optional(node.load_pct * 10) : std::nullopt, kLoadLimits, grid);
  add_percent(line,
              known ? std::optional(share_permille(node.owed_ms, node.capacity_ms)) : std::nullopt,
              kOwedLimits, grid);
  add_cell(line,
           known ? std::optional(share_permille(node.used_bytes, node.total_bytes)) : std::nullopt,
           kMemoryLimits, known ? bytes_text(node.used_bytes) : "-", kBytesWidth, grid);
  add_percent(line, locality_of(host, node.node), kLocalLimits, grid);
  return line;
}

Line client_line(const TopHost& host, const TopClient& client, const TopGrid& grid) {
  const std::string name = fmt::format("{}/{}", printable(client.vm), client.client);
  Line line;
  line.push_back({left(name, grid.name) + (client.moving ? "*" : " ") +
                  right(node_text(client.home), kNumberWidth) + " " +
                  right(std::to_string(client.vcpus), kNumberWidth)});
  add_percent(line, load_permille(client, host.epoch_length_ms), kNoLimits, grid);
  add_percent(line, owed_permille(client), kOwedLimits, grid);
  const TopNode* home = find_node(host, client.home);
  add_cell(line,
           client.memory_bytes && home != nullptr
               ? std::optional(share_permille(*client.memory_bytes, home->total_bytes))
               : std::nullopt,
           kMemoryLimits, client.memory_bytes ? bytes_text(*client.memory_bytes) : "-", kBytesWidth,
           grid);
  add_percent(line, local_permille(client), kLocalLimits, grid);
  return line;
}

Line transfer_line(const balancer::TransferView& transfer, const TopGrid& grid) {
  const std::int64_t done =
      share_permille(transfer.bytes_done, transfer.bytes_done + transfer.bytes_remaining);
  return {
      {left(fmt::format("> {}/{}", printable(transfer.vm), transfer.client), grid.name) +
       fmt::format(" to {} ", nodes_text(transfer.to))},
      {bar(done, grid.bar + kPercentWidth), Style::kGood},
      {fmt::format(" {}, {} left, {}/s, {}", percent(done), bytes_text(transfer.bytes_remaining),
                   bytes_text(transfer.rate_bytes_per_second), printable(transfer.state))}};
}

}  // namespace vmnuma::tools
