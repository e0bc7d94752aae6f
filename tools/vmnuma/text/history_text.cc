// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

using balancer::Figure;
using balancer::HistoryRowView;

/// Returns what the action saved per epoch, as promised or as measured.
template <class View>
Figure saved_ms(const View& view) {
  const Figure before = view.lost_before_ms;
  const Figure after = view.lost_after_ms;
  return before && after ? Figure(*before - *after) : std::nullopt;
}

/// Figures of the whole action. They are printed only in its first row, so that the sum of a column
/// counts each action once.
struct ActionFigures {
  Figure promised_ms;
  Figure saved_ms;
  Figure moved_bytes;
  Figure took_ms;
};

ActionFigures action_figures(const HistoryRowView& row) {
  ActionFigures figures{.promised_ms = saved_ms(row.predicted)};
  if (row.outcome) {
    figures.saved_ms = saved_ms(*row.outcome);
    figures.moved_bytes = row.outcome->moved_bytes;
    figures.took_ms = row.outcome->took_ms;
  }
  return figures;
}

Figure number(NodeId node) {
  return node.value < 0 ? std::nullopt : Figure(node.value);
}

/// Returns "0>1" for a move, "0" if the client stays at home, "0+1" if it spills from there to node
/// 1.
std::string move_text(const HistoryRowView& row) {
  std::string text = row.from == row.to ? "" : node_text(row.from) + ">";
  text += node_text(row.to);
  return row.spills_to.value >= 0 ? fmt::format("{}+{}", text, node_text(row.spills_to)) : text;
}

}  // namespace

Listing listing_of(const balancer::HistoryView& view) {
  Listing listing;
  listing.columns = {{"time", "TIME"},
                     {"vm", "VM/CLIENT"},
                     {"reason", "REASON"},
                     {"to", "MOVE"},
                     {"state", "STATE"},
                     {"saved_ms", "SAVED(ms)", Align::kRight},
                     {"action", "ACTION", Align::kRight, Shown::kWide},
                     {"client", "CLIENT", Align::kRight, Shown::kWide},
                     {"from", "FROM", Align::kRight, Shown::kWide},
                     {"spills_to", "SPILLS TO", Align::kRight, Shown::kWide},
                     {"promised_ms", "PROMISED(ms)", Align::kRight, Shown::kWide},
                     {"moved_bytes", "MOVED", Align::kRight, Shown::kWide},
                     {"took_ms", "TOOK(ms)", Align::kRight, Shown::kWide},
                     {"vm_uuid", "UUID", Align::kLeft, Shown::kWide},
                     {"detail", "DETAIL", Align::kLeft, Shown::kWide}};
  std::optional<std::int64_t> action;
  for (const HistoryRowView& row : view.moves) {
    listing.names.push_back(row.vm);
    const bool is_first = row.action != action;
    action = row.action;
    const auto [promised, saved, moved, took] = is_first ? action_figures(row) : ActionFigures{};
    listing.rows.push_back(
        {time_cell(row.time_unix_s),
         {fmt::format("{}/{}", row.vm, row.client), row.vm},
         cell(row.reason),
         {move_text(row), cell(number(row.to)).value},
         cell(row.state),
         {is_first ? fmt::format("{}/{}", figure_text(promised), figure_text(saved)) : "-",
          cell(saved).value},
         cell(row.action),
         cell(row.client),
         cell(number(row.from)),
         cell(number(row.spills_to)),
         cell(promised),
         bytes_cell(moved),
         cell(took),
         cell(row.vm_uuid),
         cell(row.detail)});
  }
  return listing;
}

std::string text_of(const balancer::HistoryView& view) {
  if (view.moves.empty()) {
    return "No moves.\n";
  }
  std::string out = text_of(listing_of(view), ListFormat::kTable);
  for (const auto& row : view.moves) {
    if (!row.detail.empty() && row.state != "done") {
      out += wrapped(fmt::format("{} {}/{}: {}", row.state, row.vm, row.client, row.detail),
                     /*indent=*/0);
    }
  }
  return view.truncated
             ? out + "There are more; choose which to show with --limit, --since and --until.\n"
             : out;
}

}  // namespace vmnuma::tools
