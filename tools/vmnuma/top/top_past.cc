// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_past.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tools/vmnuma/top/top_state.h"

namespace vmnuma::tools {

using balancer::Figure;

namespace {

constexpr std::int64_t kKeptMs = 10 * 60 * 1000;
constexpr std::size_t kNameWidth = 6;
constexpr std::size_t kRangeWidth = 16;  // "  100% to 100%" with a gap

using Levels = std::array<std::string_view, 8>;
constexpr Levels kBlocks{"\u2581", "\u2582", "\u2583", "\u2584",
                         "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr Levels kAscii{".", ":", "-", "=", "+", "*", "%", "#"};

/// Returns the mean of the known values of moments [begin, end).
Figure mean_of(const std::vector<Figure>& permille, std::size_t begin, std::size_t end) {
  std::int64_t sum = 0;
  std::int64_t known = 0;
  for (std::size_t i = begin; i < end; ++i) {
    sum += permille[i].value_or(0);
    known += permille[i] ? 1 : 0;
  }
  return known == 0 ? std::nullopt : Figure(sum / known);
}

std::string_view character_of(const Figure& permille, const Levels& levels) {
  if (!permille) {
    return " ";
  }
  const auto last = static_cast<std::int64_t>(levels.size()) - 1;
  const std::int64_t level = std::clamp<std::int64_t>(*permille * (last + 1) / 1000, 0, last);
  return levels[static_cast<std::size_t>(level)];
}

/// Adds a line, unless no moment has the figure.
void add_line(std::vector<Line>& lines, std::string_view name, const std::vector<Figure>& permille,
              ScreenSize size) {
  std::int64_t least = INT64_MAX;
  std::int64_t most = -1;
  for (const Figure& figure : permille) {
    if (figure) {
      least = std::min(least, *figure);
      most = std::max(most, *figure);
    }
  }
  if (most < 0) {
    return;
  }
  const std::size_t fixed = kNameWidth + kRangeWidth;
  const std::size_t columns = size.columns > fixed ? size.columns - fixed : 0;
  lines.push_back({{fmt::format("{:<{}}", name, kNameWidth)},
                   {sparkline(permille, columns, size.blocks), Style::kGood},
                   {fmt::format("  {}% to {}%", least / 10, most / 10)}});
}

}  // namespace

void TopPast::add(const TopHost& host) {
  const std::int64_t epoch = host.status.epoch;
  if (epoch == epoch_) {
    return;
  }
  if (epoch < epoch_) {  // a step back in a recording, or another daemon
    clients_.clear();
  }
  epoch_ = epoch;
  const auto kept = static_cast<std::size_t>(
      std::max<std::int64_t>(kKeptMs / std::max<std::int64_t>(host.epoch_length_ms, 1), 1));
  std::map<Client, std::deque<TopMoment>> clients;
  for (const TopClient& client : host.clients) {
    const Client key{client.vm_uuid, client.client};
    const auto before = clients_.find(key);
    auto& moments = clients[key];
    if (before != clients_.end()) {
      moments = std::move(before->second);
    }
    moments.push_back({load_permille(client, host.epoch_length_ms), owed_permille(client),
                       local_permille(client)});
    while (moments.size() > kept) {
      moments.pop_front();
    }
  }
  clients_ = std::move(clients);
}

std::vector<TopMoment> TopPast::of(const std::string& vm_uuid, std::int32_t client) const {
  const auto found = clients_.find({vm_uuid, client});
  return found == clients_.end()
             ? std::vector<TopMoment>()
             : std::vector<TopMoment>(found->second.begin(), found->second.end());
}

std::string sparkline(const std::vector<Figure>& permille, std::size_t columns, bool blocks) {
  const std::size_t shown = std::min(columns, permille.size());
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) {
    out += character_of(
        mean_of(permille, i * permille.size() / shown, (i + 1) * permille.size() / shown),
        blocks ? kBlocks : kAscii);
  }
  return out;
}

std::vector<Line> past_lines(const std::vector<TopMoment>& past, ScreenSize size) {
  std::vector<Line> lines;
  const auto add = [&](std::string_view name, Figure TopMoment::*figure) {
    std::vector<Figure> permille;
    permille.reserve(past.size());
    for (const TopMoment& moment : past) {
      permille.push_back(moment.*figure);
    }
    add_line(lines, name, permille, size);
  };
  add("load", &TopMoment::load);
  add("owed", &TopMoment::owed);
  add("local", &TopMoment::local);
  return lines;
}

}  // namespace vmnuma::tools
