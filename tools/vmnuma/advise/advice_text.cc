// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/advice_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kIndent = 4;

Json cells_json(const Advice& advice) {
  Json cells = Json::array();
  for (std::size_t i = 0; i < advice.cells.size(); ++i) {
    const GuestCell& cell = advice.cells[i];
    Json json = {{"id", cell.id}, {"vcpus", cell.vcpus}, {"memory_bytes", cell.memory.value}};
    Json distances = Json::array();
    for (std::size_t to = 0; to < advice.cells.size() && !advice.distances.empty(); ++to) {
      distances.push_back(advice.distances[i * advice.cells.size() + to]);
    }
    json["distances"] = advice.distances.empty() ? Json(nullptr) : std::move(distances);
    json["node"] = advice.cell_nodes.empty() ? Json(nullptr) : Json(advice.cell_nodes[i].value);
    cells.push_back(std::move(json));
  }
  return cells;
}

}  // namespace

std::string advice_text(const AdvisedVm& vm) {
  std::string text =
      printable(vm.name) + (vm.before == vm.after ? ": its definition is as advised\n"
                                                  : ": its definition should have\n");
  for (const AdviceLine& line : vm.advice.lines) {
    text += fmt::format("\n{}: {}\n", name_of(line.about), line.what);
    text += wrapped(line.reason + ".", kIndent);
    text += wrapped("Rule: " + line.rule + ".", kIndent);
  }
  if (!vm.warnings.empty()) {
    text += vm.is_new ? "\nEven as advised:\n" : "\nAs it is now:\n";
    for (const AdviceWarned& warned : vm.warnings) {
      text += wrapped(printable(fmt::format("{}: {}.", name_of(warned.kind), warned.text)), 0);
    }
  }
  return text;
}

std::string advice_json(const AdvisedVm& vm) {
  const Advice& advice = vm.advice;
  Json json = {{"vm", vm.name},
               {"changes", vm.before != vm.after},
               {"topology",
                {{"sockets", advice.sockets},
                 {"dies", advice.dies},
                 {"cores", advice.cores},
                 {"threads", advice.threads}}},
               {"cells", cells_json(advice)}};
  json["devices"] = Json::array();
  for (const AdvisedDevice& device : advice.devices) {
    json["devices"].push_back({{"address", device.address}, {"instead_of", device.instead_of}});
  }
  json["advice"] = Json::array();
  for (const AdviceLine& line : advice.lines) {
    json["advice"].push_back({{"about", name_of(line.about)},
                              {"what", line.what},
                              {"reason", line.reason},
                              {"rule", line.rule}});
  }
  json["warnings"] = Json::array();
  for (const AdviceWarned& warned : vm.warnings) {
    json["warnings"].push_back({{"kind", name_of(warned.kind)}, {"text", warned.text}});
  }
  json["xml"] = vm.after;
  return text::json_text(json) + "\n";
}

}  // namespace vmnuma::tools
