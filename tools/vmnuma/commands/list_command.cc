// SPDX-License-Identifier: Apache-2.0
// `vmnuma list`: one line per VM.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "placement/base/sorted.h"
#include "stats/text/json.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/terminal/watch.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

using balancer::Figure;
using Json = nlohmann::ordered_json;

/// A VM with the totals of its clients. Figures are of the last epoch.
struct Row {
  std::string vm;
  std::string vm_uuid;
  std::vector<NodeId> homes;  ///< ascending
  std::int64_t vcpus = 0;
  std::int64_t moves = 0;
  Figure load_pct;  ///< its demand, in per cent of its vCPUs' time
  Figure owed_pct;  ///< in per cent of what it is entitled to
  Figure memory_bytes;
  Figure locality_pct;
  std::string state;
  VmFigures figures = {};
};

/// Returns the figures that have a column here.
std::vector<VmFigureInfo> shown_figures() {
  std::vector<VmFigureInfo> shown;
  std::copy_if(kVmFigures.begin(), kVmFigures.end(), std::back_inserter(shown),
               [](const VmFigureInfo& info) { return !info.list_title.empty(); });
  return shown;
}

Figure permille_figure(const Row& row, const VmFigureInfo& info) {
  const std::optional<Permille>& share = row.figures.*info.value;
  return share ? Figure(share->value) : Figure();
}

/// Adds a value; if it is unknown, so is the sum.
void add(Figure& sum, const Figure& part) {
  sum = sum && part ? Figure(*sum + *part) : Figure();
}

Figure percent_of(const Figure& part, const Figure& whole) {
  return part && whole && *whole > 0 ? Figure((*part * 100 + *whole / 2) / *whole) : Figure();
}

Row row_of(const balancer::VmView& vm, std::int64_t epoch_ms) {
  Row row{.vm = vm.vm, .vm_uuid = vm.vm_uuid, .homes = {}, .memory_bytes = 0, .state = {}};
  Figure demand = 0;
  Figure entitled = 0;
  Figure owed = 0;
  Figure local = 0;
  bool moves = vm.transferring;
  bool is_assumed = false;
  for (const balancer::VmClientView& client : vm.clients) {
    row.vcpus += client.vcpus;
    row.moves += client.moves;
    if (client.home.value >= 0) {
      row.homes.push_back(client.home);
    }
    moves = moves || client.moving;
    is_assumed = is_assumed || client.home_assumed;
    add(demand, client.demand_ms);
    add(entitled, client.entitled_ms);
    add(owed, client.owed_ms);
    const std::int64_t resident =
        std::accumulate(client.memory_bytes.begin(), client.memory_bytes.end(), std::int64_t{});
    add(row.memory_bytes, client.memory_bytes.empty() ? Figure() : Figure(resident));
    add(local, client.locality_pct ? Figure(*client.locality_pct * resident / 100) : Figure());
  }
  row.homes = sorted_unique(std::move(row.homes));
  row.load_pct = percent_of(demand, row.vcpus * epoch_ms);
  row.owed_pct = entitled == Figure(0) ? Figure(0) : percent_of(owed, entitled);
  row.locality_pct = percent_of(local, row.memory_bytes);
  row.figures = vm.figures;
  row.state = !vm.managed  ? "left alone: " + vm.not_managed
              : moves      ? "moving"
              : is_assumed ? "home assumed"
                           : "";
  return row;
}

/// Sorts the rows; VMs with an unknown value come last.
void sort_rows(std::vector<Row>& rows, ListOrder order) {
  const auto by = [&rows](Figure Row::*figure, std::int64_t sign) {
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      return a.*figure && b.*figure ? *(a.*figure) * sign < *(b.*figure) * sign
                                    : (a.*figure).has_value() && !(b.*figure).has_value();
    });
  };
  std::ranges::sort(rows, {}, &Row::vm);
  switch (order) {
    case ListOrder::kName:
      break;
    case ListOrder::kLocality:
      by(&Row::locality_pct, 1);
      break;
    case ListOrder::kOwed:
      by(&Row::owed_pct, -1);
      break;
    case ListOrder::kLoad:
      by(&Row::load_pct, -1);
      break;
    case ListOrder::kMemory:
      by(&Row::memory_bytes, -1);
      break;
  }
}

Listing table_of(const std::vector<Row>& rows) {
  Listing listing;
  listing.columns = {{"vm", "VM"},
                     {"homes", "HOME"},
                     {"vcpus", "VCPU", Align::kRight},
                     {"load_pct", "LOAD%", Align::kRight},
                     {"owed_pct", "OWED%", Align::kRight},
                     {"memory_bytes", "MEMORY", Align::kRight},
                     {"locality_pct", "LOCAL%", Align::kRight}};
  for (const VmFigureInfo& info : shown_figures()) {
    const bool is_known = std::any_of(rows.begin(), rows.end(), [&info](const Row& row) {
      return (row.figures.*info.value).has_value();
    });
    listing.columns.push_back({std::string(info.name), std::string(info.list_title), Align::kRight,
                               is_known ? Listing::Shown::kAlways : Listing::Shown::kWide});
  }
  listing.columns.push_back({"moves", "MOVES", Align::kRight, Listing::Shown::kWide});
  listing.columns.push_back({"vm_uuid", "UUID", Align::kLeft, Listing::Shown::kWide});
  listing.columns.push_back({"state", "STATE"});
  for (const Row& row : rows) {
    listing.names.push_back(row.vm);
    Listing::Row& cells = listing.rows.emplace_back();
    cells = {cell(row.vm),          cell(nodes_text(row.homes)), cell(row.vcpus),
             cell(row.load_pct),    cell(row.owed_pct),          bytes_cell(row.memory_bytes),
             cell(row.locality_pct)};
    for (const VmFigureInfo& info : shown_figures()) {
      cells.push_back(permille_cell(permille_figure(row, info)));
    }
    cells.insert(cells.end(), {cell(row.moves), cell(row.vm_uuid), cell(row.state)});
  }
  return listing;
}

std::string rows_json(const std::vector<Row>& rows) {
  const auto number = [](const Figure& figure) { return figure ? Json(*figure) : Json(nullptr); };
  Json vms = Json::array();
  for (const Row& row : rows) {
    Json homes = Json::array();
    for (const NodeId home : row.homes) {
      homes.push_back(home.value);
    }
    vms.push_back({{"vm", row.vm},
                   {"vm_uuid", row.vm_uuid},
                   {"homes", homes},
                   {"vcpus", row.vcpus},
                   {"load_pct", number(row.load_pct)},
                   {"owed_pct", number(row.owed_pct)},
                   {"memory_bytes", number(row.memory_bytes)},
                   {"locality_pct", number(row.locality_pct)},
                   {"moves", row.moves},
                   {"state", row.state}});
    for (const VmFigureInfo& info : shown_figures()) {
      vms.back()[std::string(info.name)] = number(permille_figure(row, info));
    }
  }
  const Json all = {{"vms", vms}};
  return text::json_text(all) + "\n";
}

OrFailure<std::string> list_text(ListOrder order, const Context& context) {
  VMNUMA_ASSIGN_OR_RETURN(const auto host, context.ask(balancer::HostRequest{}));
  if (!host.vms_known) {
    return failure(ErrorCode::kBusy, "libvirt has not said yet which VMs run");
  }
  std::vector<Row> rows;
  for (const balancer::VmView& vm : host.vms) {
    rows.push_back(row_of(vm, host.epoch_length_ms));
  }
  sort_rows(rows, order);
  const bool prints_none = rows.empty() && context.invocation.format == ListFormat::kTable;
  return context.invocation.json ? rows_json(rows)
         : prints_none           ? "no VMs run\n"
                                 : text_of(table_of(rows), context.invocation.format);
}

}  // namespace

OrFailure<int> ListRun::run(const Context& context) const {
  return show(context, [&] { return list_text(order, context); });
}

}  // namespace vmnuma::tools
