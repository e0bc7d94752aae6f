// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/vmnuma/text/table.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

std::string text_of(const balancer::OptionsView& view) {
  using Align = Table::Align;
  Table table({{"NAME", Align::kShrinks},
               {"VALUE", Align::kRight},
               {"UNIT"},
               {"DEFAULT", Align::kRight},
               {"RANGE"},
               {"FROM"}});
  for (const auto& option : view.options) {
    table.add_row({option.name, std::to_string(option.value), option.unit,
                   std::to_string(option.default_value),
                   fmt::format("{}..{}", option.smallest, option.largest),
                   std::string(name_of(option.origin))});
  }
  return table.text();
}

std::string text_of(const balancer::OptionView& view) {
  return fmt::format(
      "{} = {}{}{} ({})\n"
      "   Default value:{}\n"
      "   Min value:{}\n"
      "   Max value:{}\n"
      "   Current value:{}\n"
      "   Description:{}\n",
      printable(view.name), view.value, view.unit.empty() ? "" : " ", printable(view.unit),
      name_of(view.origin), view.default_value, view.smallest, view.largest, view.value,
      printable(view.help));
}

std::string text_of(const balancer::RecordingView& view) {
  return fmt::format("recording {}: {} epochs{}\n", view.recording, view.epochs,
                     view.ended.empty() ? "" : ", " + printable(view.ended));
}

std::string text_of(const balancer::DoneView& view) {
  return view.action ? fmt::format("{} (action {})\n", printable(view.message), *view.action)
                     : printable(view.message) + "\n";
}

}  // namespace vmnuma::tools
