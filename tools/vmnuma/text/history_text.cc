// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

/// What the action saved per epoch: as promised, and as measured where it has been.
std::string saved_text(const balancer::HistoryRowView& row) {
  const auto saved = [](const balancer::Figure& before, const balancer::Figure& after) {
    return figure_text(before && after ? balancer::Figure(*before - *after) : std::nullopt);
  };
  return saved(row.predicted.lost_before_ms, row.predicted.lost_after_ms) + "/" +
         (row.outcome ? saved(row.outcome->lost_before_ms, row.outcome->lost_after_ms) : "-");
}

}  // namespace

std::string text_of(const balancer::HistoryView& view) {
  if (view.moves.empty()) {
    return "No moves.\n";
  }
  using Align = Table::Align;
  Table table({{"TIME"},
               {"VM/CLIENT", Align::kShrinks},
               {"REASON"},
               {"MOVE"},
               {"STATE"},
               {"SAVED(ms)", Align::kRight}});
  for (const auto& row : view.moves) {
    table.add_row(
        {local_time_text(row.time_unix_s), fmt::format("{}/{}", row.vm, row.client), row.reason,
         row.from == row.to ? node_text(row.to)
                            : fmt::format("{}>{}", node_text(row.from), node_text(row.to)),
         row.state, saved_text(row)});
  }
  std::string out = table.text();
  for (const auto& row : view.moves) {
    if (!row.detail.empty() && row.state != "done") {
      out += wrapped(fmt::format("{} {}/{}: {}", row.state, row.vm, row.client, row.detail),
                     /*indent=*/0);
    }
  }
  return view.truncated ? out + "There are more; --limit and --since say which to show.\n" : out;
}

}  // namespace vmnuma::tools
