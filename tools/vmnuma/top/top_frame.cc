// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_frame.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stats/formats/fields.h"
#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"
#include "tools/vmnuma/top/top_cells.h"

namespace vmnuma::tools {

namespace {

using balancer::Figure;

constexpr std::size_t kMostTransfers = 4;

Line plain(const std::string& text, Style style = Style::kPlain) {
  return {{printable(text), style}};
}

/// Returns a line over the whole width.
Line full(const std::string& text, std::size_t columns, Style style) {
  const std::string shown = first_columns(printable(text), columns);
  return {{shown + std::string(columns - width_of(shown), ' '), style}};
}

std::vector<Line> head(const TopData& data) {
  const balancer::StatusView& status = data.host.status;
  const bool is_well = status.degraded.empty();
  std::vector<Line> lines;
  lines.push_back(
      {{"vmnuma ", Style::kTitle},
       {std::string(name_of(status.mode)), is_well ? Style::kGood : Style::kBad},
       {fmt::format("  epoch {}  {}, {}, {}", status.epoch, counted_text(status.nodes, "node"),
                    counted_text(status.vms, "VM"), counted_text(status.clients, "client"))}});
  lines.push_back(
      {{fmt::format("imbalance {}  lost {} per epoch of {} ms  actions under way {}",
                    figure_text(status.imbalance_pct, "%"), figure_text(status.lost_ms, "ms"),
                    status.epoch_length_ms, status.open_actions)}});
  if (status.recorded_unix_s) {
    lines.push_back(plain("recorded " + local_time_text(*status.recorded_unix_s), Style::kWarning));
  }
  for (const balancer::DegradedView& missing : status.degraded) {
    lines.push_back(plain(fmt::format("{}: {} (since {})", missing.source, missing.reason,
                                      local_time_text(missing.since_unix_s)),
                          Style::kWarning));
  }
  if (!status.nothing_to_balance.empty()) {
    lines.push_back(plain(status.nothing_to_balance, Style::kDim));
  }
  if (!data.problem.empty()) {
    lines.push_back(plain("out of date: " + data.problem, Style::kBad));
  }
  return lines;
}

/// Returns a line per entry, `most` at most; if there are more, the last line counts them.
template <class Entry, class LineOf>
std::vector<Line> limited_rows(const std::vector<Entry>& entries, std::string_view what,
                               std::size_t most, LineOf line_of) {
  std::vector<Line> lines;
  for (const Entry& entry : entries) {
    if (lines.size() == most) {
      break;
    }
    if (lines.size() + 1 == most && entries.size() > most) {
      lines.push_back(
          plain(fmt::format("and {} more {}", entries.size() - lines.size(), what), Style::kDim));
      break;
    }
    lines.push_back(line_of(entry));
  }
  return lines;
}

std::vector<Line> transfer_rows(const TopHost& host, const TopGrid& grid, std::size_t most) {
  return limited_rows(
      host.status.transfers, "transfers", most,
      [&](const balancer::TransferView& transfer) { return transfer_line(transfer, grid); });
}

std::vector<Line> node_rows(const TopHost& host, const TopGrid& grid, std::size_t most) {
  return limited_rows(host.nodes, "nodes", most,
                      [&](const balancer::NodeView& node) { return node_line(host, node, grid); });
}

void append_lines(std::vector<Line>& lines, std::vector<Line> more) {
  std::ranges::move(more, std::back_inserter(lines));
}

std::string clients_header(const TopGrid& grid, const TopState& state) {
  return header_text("VM/CLIENT", "HOME", grid) +
         fmt::format("  {}{}", name_of(state.order), state.reversed ? ", reversed" : "");
}

/// Returns the first row of the page that has the selected row.
std::size_t first_shown(std::size_t selected, std::size_t rows) {
  return rows == 0 ? 0 : selected / rows * rows;
}

/// Returns the rows of the page that has the selected row.
std::vector<Line> client_rows(const TopHost& host, const TopGrid& grid, const TopState& state,
                              std::size_t rows) {
  const std::vector<TopClient> clients = ordered_clients(host, state);
  std::vector<Line> lines;
  if (clients.empty()) {
    lines.push_back(plain(host.clients.empty()
                              ? "No VM runs."
                              : fmt::format("No VM has '{}' in its name.", state.filter),
                          Style::kDim));
    return lines;
  }
  const std::size_t selected = selected_row(clients, state);
  const std::size_t first = first_shown(selected, rows);
  for (std::size_t row = first; row < std::min(first + rows, clients.size()); ++row) {
    Line line = client_line(host, clients[row], grid);
    if (row == selected) {
      for (Span& span : line) {
        span.style = Style::kSelected;
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Returns the footer. On a narrow screen the least needed keys are left out; the help lists all.
std::string footer_text(const TopHost& host, const TopState& state, std::size_t rows,
                        std::size_t columns) {
  const std::vector<TopClient> clients = ordered_clients(host, state);
  const std::size_t pages =
      rows == 0 ? 1 : std::max<std::size_t>((clients.size() + rows - 1) / rows, 1);
  const std::size_t row = selected_row(clients, state);
  std::vector<std::string> keys{
      fmt::format("{}page {}/{}", state.filter.empty() ? "" : "/" + state.filter + "  Esc all  ",
                  rows == 0 ? 1 : row / rows + 1, pages),
      "q quit",
      "? help",
      "Enter why",
      "/ find",
      fmt::format("{} order", kTopOrderKeys),
      "x memory",
      state.frozen ? "FROZEN" : "Space hold"};
  constexpr std::size_t kAlwaysShown = 4;  // the first three, and the last
  const auto text = [&keys] { return fmt::format("{}", fmt::join(keys, "  ")); };
  while (keys.size() > kAlwaysShown && width_of(text()) > columns) {
    keys.erase(keys.end() - 2);
  }
  return text();
}

/// Returns the question, or else the answer, or else `usual`.
Line last_line(const TopData& data, const TopState& state, const std::string& usual,
               ScreenSize size) {
  if (state.entry != TopEntry::kNone) {
    return full(entry_text(data.host, state), size.columns, Style::kHeader);
  }
  return data.answer.empty() ? full(usual, size.columns, Style::kDim)
                             : full(data.answer, size.columns, Style::kHeader);
}

/// The division of the rows between head and footer.
struct Shares {
  std::size_t nodes = 0;
  std::size_t transfers = 0;
  std::size_t clients = 0;
};

Shares shares_of(const TopHost& host, std::size_t head_rows, std::size_t rows) {
  // Two headers and the footer.
  const std::size_t left = rows - std::min(rows, head_rows + 3);
  Shares shares;
  shares.transfers = std::min({host.status.transfers.size(), kMostTransfers, left / 4});
  shares.nodes = std::min(host.nodes.size(), (left - shares.transfers) / 2);
  shares.clients = left - shares.transfers - shares.nodes;
  return shares;
}

std::vector<Line> host_page(const TopData& data, const TopState& state, ScreenSize size) {
  const TopGrid grid = grid_for(size.columns);
  std::vector<Line> lines = head(data);
  const Shares shares = shares_of(data.host, lines.size(), size.rows);
  lines.push_back(full(header_text("NODE", "CPUS", grid), size.columns, Style::kHeader));
  append_lines(lines, node_rows(data.host, grid, shares.nodes));
  append_lines(lines, transfer_rows(data.host, grid, shares.transfers));
  lines.push_back(full(clients_header(grid, state), size.columns, Style::kHeader));
  append_lines(lines, client_rows(data.host, grid, state, shares.clients));
  lines.resize(std::max(size.rows, std::size_t{1}) - 1);
  lines.push_back(
      last_line(data, state, footer_text(data.host, state, shares.clients, size.columns), size));
  return lines;
}

std::vector<Line> frame_lines(std::string_view text) {
  std::vector<Line> lines;
  while (const auto line = stats::take_line(text)) {
    lines.push_back(plain(std::string(*line)));
  }
  return lines;
}

/// Returns the sparklines of the selected client, with a title and a blank line; nothing if the
/// client is gone.
std::vector<Line> past_of_selected(const TopData& data, const TopState& state, ScreenSize size) {
  std::vector<Line> lines;
  for (const TopClient& client : data.host.clients) {
    if (is_selected(state, client)) {
      lines.push_back(
          plain(fmt::format("VM {} client {}: the last ten minutes, or since top was started",
                            client.vm, client.client)));
      append_lines(lines, past_lines(data.past.of(client.vm_uuid, client.client), size));
      lines.push_back({});
    }
  }
  return lines;
}

std::vector<Line> vm_text(const TopData& data, const TopState& state, ScreenSize size) {
  if (!data.detail) {
    return {plain("asking the daemon")};
  }
  const auto& [explain, history] = *data.detail;
  std::vector<Line> lines = past_of_selected(data, state, size);
  append_lines(lines,
               frame_lines(explain ? text_of(*explain) : explain.error().error.message + "\n"));
  lines.push_back({});
  lines.push_back(plain("Its moves, newest first"));
  append_lines(lines,
               frame_lines(history ? text_of(*history) : history.error().error.message + "\n"));
  return lines;
}

/// Returns clients and nodes with the location of memory. * marks the home.
std::vector<Line> memory_lines(const TopHost& host, const TopState& state) {
  std::vector<Table::Column> columns{{"VM/CLIENT"}};
  for (const balancer::NodeView& node : host.nodes) {
    columns.push_back({fmt::format("node {}", node.node.value), Table::Align::kRight});
  }
  Table table(std::move(columns));
  for (const TopClient& client : ordered_clients(host, state)) {
    std::vector<std::string> cells{fmt::format("{}/{}", client.vm, client.client)};
    for (std::size_t i = 0; i < host.nodes.size(); ++i) {
      const Figure bytes =
          i < client.bytes_by_node.size() ? Figure(client.bytes_by_node[i]) : std::nullopt;
      cells.push_back((bytes == 0 ? std::string() : bytes_text(bytes)) +
                      (host.nodes[i].node == client.home ? "*" : " "));
    }
    table.add_row(std::move(cells));
  }
  return frame_lines(table.text());
}

std::vector<Line> help_text() {
  std::vector<Line> lines = frame_lines(
      "Up Down PgUp PgDn Home End   choose a client, or scroll a page of text\n"
      "Enter                        why the VM lives where it does, and its moves\n"
      "Esc Backspace                back; on the page of the host: all VMs again\n"
      "/                            only VMs whose name contains a text\n"
      "x                            which client has how much memory on which node\n"
      "v                            move the chosen client to a node\n"
      "R                            stop balancing the chosen VM (see vmnuma manage)\n"
      "p                            pause or resume moves; v, R and p ask first\n"
      "r                            reverse the order\n"
      "Space                        hold what is shown, or go on\n"
      "q                            back, or quit\n"
      "click, wheel                 choose a client; a second click does what Enter does\n");
  lines.push_back(
      plain(fmt::format("{:<28} order by {}", fmt::format("{}", fmt::join(kTopOrderKeys, " ")),
                        fmt::join(names(TopOrder{}), ", "))));
  append_lines(
      lines,
      frame_lines("\n"
                  "Of a node: LOAD is what its clients want, in per cent of the whole node, and\n"
                  "# in its bar what other processes use; OWED is what its clients are owed, in\n"
                  "per cent of what others leave; MEMORY is what is used; LOCAL is the share of\n"
                  "its clients' memory that lies on it.\n"
                  "Of a client: LOAD is what it wants, in per cent of its vCPUs; OWED is what\n"
                  "it was entitled to and did not get, in per cent of that; MEMORY is what is\n"
                  "resident, the bar its share of the node; LOCAL is the share of it on the\n"
                  "home. * marks what is moving, () the home that it would get in mode active.\n"));
  return lines;
}

std::vector<Line> page_text(const TopData& data, const TopState& state, ScreenSize size) {
  return state.page == TopPage::kHelp     ? help_text()
         : state.page == TopPage::kMemory ? memory_lines(data.host, state)
                                          : vm_text(data, state, size);
}

std::vector<Line> text_page(const TopData& data, const TopState& state, ScreenSize size) {
  const std::vector<Line> text = page_text(data, state, size);
  const std::size_t first = std::min(state.scrolled, most_scrolled(data, state, size));
  std::vector<Line> lines(text.begin() + static_cast<std::ptrdiff_t>(first), text.end());
  lines.resize(std::max(size.rows, std::size_t{1}) - 1);
  const std::string place = fmt::format("lines {}-{} of {}", first + 1,
                                        std::min(first + size.rows - 1, text.size()), text.size());
  lines.push_back(state.entry == TopEntry::kNone && data.answer.empty() && !data.problem.empty()
                      ? full("Esc back  " + place + "  " + data.problem, size.columns, Style::kBad)
                      : last_line(data, state, "Esc back  " + place, size));
  return lines;
}

}  // namespace

std::size_t most_scrolled(const TopData& data, const TopState& state, ScreenSize size) {
  if (state.page == TopPage::kHost) {
    return 0;
  }
  const std::size_t lines = page_text(data, state, size).size();
  const std::size_t shown = std::max(size.rows, std::size_t{2}) - 1;
  return lines - std::min(lines, shown);
}

std::optional<TopClient> client_at(const TopData& data, const TopState& state, ScreenSize size,
                                   std::size_t row) {
  if (state.page != TopPage::kHost || state.entry != TopEntry::kNone) {
    return std::nullopt;
  }
  const std::size_t head_rows = head(data).size();
  const Shares shares = shares_of(data.host, head_rows, size.rows);
  // Head, nodes and transfers, and the two headers.
  const std::size_t above = head_rows + shares.nodes + shares.transfers + 2;
  const std::vector<TopClient> clients = ordered_clients(data.host, state);
  const std::size_t place = first_shown(selected_row(clients, state), shares.clients) + row - above;
  return row >= above && row < above + shares.clients && place < clients.size()
             ? std::optional(clients[place])
             : std::nullopt;
}

std::vector<Line> top_frame(const TopData& data, const TopState& state, ScreenSize size) {
  if (size.rows == 0) {
    return {};
  }
  std::vector<Line> lines =
      state.page == TopPage::kHost ? host_page(data, state, size) : text_page(data, state, size);
  for (Line& line : lines) {
    line = clipped(line, size.columns);
  }
  return lines;
}

std::string top_text(const TopHost& host) {
  const TopGrid grid = grid_with_names_of(host);
  std::vector<Line> lines = head({host, "", std::nullopt});
  lines.push_back({});
  lines.push_back(plain(header_text("NODE", "CPUS", grid)));
  append_lines(lines, node_rows(host, grid, host.nodes.size()));
  if (!host.status.transfers.empty()) {
    lines.push_back({});
    append_lines(lines, transfer_rows(host, grid, host.status.transfers.size()));
  }
  lines.push_back({});
  lines.push_back(plain(header_text("VM/CLIENT", "HOME", grid)));
  for (const TopClient& client : ordered_clients(host, TopState{})) {
    lines.push_back(client_line(host, client, grid));
  }
  return plain_text(lines);
}

}  // namespace vmnuma::tools
