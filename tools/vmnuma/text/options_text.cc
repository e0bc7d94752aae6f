// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

Listing listing_of(const balancer::OptionsView& view) {
  Listing listing;
  listing.columns = {{"name", "NAME"},
                     {"value", "VALUE", Align::kRight},
                     {"unit", "UNIT"},
                     {"default", "DEFAULT", Align::kRight},
                     {"range", "RANGE"},
                     {"origin", "FROM"},
                     {"help", "MEANING", Align::kLeft, Shown::kWide}};
  for (const auto& option : view.options) {
    listing.names.push_back(option.name);
    listing.rows.push_back({cell(option.name), cell(option.value), cell(option.unit),
                            cell(option.default_value),
                            cell(fmt::format("{}..{}", option.smallest, option.largest)),
                            cell(name_of(option.origin)), cell(option.help)});
  }
  return listing;
}

Listing listing_of(const balancer::ConfigView& view) {
  Listing listing;
  listing.columns = {{"key", "KEY"}, {"value", "VALUE"}, {"origin", "FROM"}};
  for (const balancer::SettingView& setting : view.settings) {
    listing.names.push_back(setting.key);
    listing.rows.push_back({cell(setting.key), cell(setting.value), cell(name_of(setting.origin))});
  }
  return listing;
}

std::string text_of(const balancer::OptionsView& view) {
  return text_of(listing_of(view), ListFormat::kTable);
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
