// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/finding.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/vmnuma/text/screen.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

constexpr std::size_t kFindingIndent = 21;  // of the text next to the first two words

Style style_of(Severity severity) {
  switch (severity) {
    case Severity::kOk:
      return Style::kGood;
    case Severity::kNote:
      return Style::kPlain;
    case Severity::kWarning:
      return Style::kWarning;
    case Severity::kError:
      return Style::kBad;
  }
  return Style::kPlain;
}

std::string finding_text(const Finding& finding, bool colours) {
  std::string words = wrapped(finding.what, kFindingIndent);
  const std::string severity(name_of(finding.severity));
  const std::string shown = colours ? coloured(severity, style_of(finding.severity)) : severity;
  words.replace(0, std::min(words.size(), kFindingIndent),
                shown + std::string(9 - severity.size(), ' ') +
                    fmt::format("{:<{}} ", finding.check, kFindingIndent - 10));
  if (!finding.mend.empty()) {
    words += wrapped(finding.mend, kFindingIndent);
  }
  for (const std::string& line : finding.lines) {
    words += fmt::format("{:{}}{}\n", "", kFindingIndent + 4, printable(line));
  }
  return words;
}

}  // namespace

Severity worst_of(const std::vector<Finding>& findings) {
  Severity worst = Severity::kOk;
  for (const Finding& finding : findings) {
    worst = std::max(worst, finding.severity);
  }
  return worst;
}

std::string text_of(const std::vector<Finding>& findings, bool colours) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding_text(finding, colours);
  }
  return text;
}

Listing listing_of(const std::vector<Finding>& findings) {
  Listing listing;
  listing.columns = {{"check", "CHECK"},
                     {"severity", "SEVERITY"},
                     {"what", "WHAT"},
                     {"mend", "MEND"},
                     {"lines", "COMMANDS", Align::kLeft, Listing::Shown::kWide}};
  for (const Finding& finding : findings) {
    listing.names.emplace_back(finding.check);
    listing.rows.push_back({cell(std::string(finding.check)),
                            cell(std::string(name_of(finding.severity))), cell(finding.what),
                            cell(finding.mend),
                            cell(fmt::format("{}", fmt::join(finding.lines, "; ")))});
  }
  return listing;
}

std::string json_of(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"check", finding.check},
                    {"severity", name_of(finding.severity)},
                    {"what", finding.what},
                    {"mend", finding.mend},
                    {"lines", finding.lines}});
  }
  const nlohmann::ordered_json json = {{"worst", name_of(worst_of(findings))},
                                       {"findings", std::move(list)}};
  return text::json_text(json);
}

}  // namespace vmnuma::tools
