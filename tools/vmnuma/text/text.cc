// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/text.h"

#include <array>
#include <ctime>
#include <sstream>

#include <fmt/format.h>

#include "placement/model/text.h"
#include "stats/formats/fields.h"

namespace vmnuma::tools {

namespace {

/// Returns whether the byte continues a UTF-8 character (RFC 3629).
bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

std::string printable_lines(std::string_view text, std::string_view prefix) {
  std::string lines;
  while (const auto line = stats::take_line(text)) {
    lines.append(prefix).append(printable(*line)).append("\n");
  }
  return lines;
}

std::size_t width_of(std::string_view text) {
  const std::size_t most = 2 * text.size();
  const std::size_t padding = fmt::formatted_size("{:<{}}", text, most) - text.size();
  return most - padding;
}

std::string first_columns(const std::string& text, std::size_t width) {
  std::size_t columns = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    std::size_t next = end + 1;
    while (next < text.size() && continues_character(text[next])) {
      ++next;
    }
    columns += width_of(std::string_view(text).substr(end, next - end));
    if (columns > width) {
      break;
    }
    end = next;
  }
  return text.substr(0, end);
}

std::string shortened(const std::string& text, std::size_t width) {
  constexpr std::size_t kDots = 3;
  if (width_of(text) <= width || width <= kDots) {
    return text;
  }
  return first_columns(text, width - kDots) + "...";
}

std::string wrapped(std::string_view sentence, std::size_t indent) {
  std::istringstream words(printable(sentence));
  std::string out;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + width_of(line) + 1 + width_of(word) > kTerminalWidth) {
      out += std::string(indent, ' ') + line + "\n";
      line.clear();
    }
    line += line.empty() ? word : " " + word;
  }
  return line.empty() ? out : out + std::string(indent, ' ') + line + "\n";
}

std::string bytes_text(const std::optional<std::int64_t>& known) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (!known) {
    return "-";
  }
  const std::int64_t bytes = *known;
  std::size_t unit = 0;
  std::int64_t size = 1;
  while (unit + 1 < kUnits.size() && bytes / size >= 1024) {
    size *= 1024;
    ++unit;
  }
  if (unit == 0) {
    return fmt::format("{} B", bytes);
  }
  // The tenths come from the remainder, because ten times the bytes may not fit.
  return fmt::format("{}.{} {}", bytes / size, bytes % size / (size / 1024) * 10 / 1024,
                     kUnits[unit]);
}

std::string figure_text(const std::optional<std::int64_t>& figure, std::string_view unit) {
  return figure ? fmt::format("{}{}{}", *figure, unit.empty() ? "" : " ", unit) : "-";
}

std::string counted_text(const std::optional<std::int64_t>& count, std::string_view noun) {
  return fmt::format("{} {}{}", figure_text(count), noun, count == 1 ? "" : "s");
}

std::string permille_text(const std::optional<std::int64_t>& permille, std::string_view unit) {
  return permille ? fmt::format("{}.{}{}{}", *permille / 10, *permille % 10,
                                unit.empty() ? "" : " ", unit)
                  : "-";
}

std::string node_text(NodeId node) {
  return node.value < 0 ? "-" : std::to_string(node.value);
}

std::string nodes_text(const std::vector<NodeId>& nodes) {
  return nodes.empty() ? "-" : to_list(nodes);
}

std::string numbers_text(const std::vector<std::int32_t>& numbers) {
  return numbers.empty() ? "-" : to_list(numbers);
}

std::string local_time_text(std::int64_t unix_s) {
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  if (::localtime_r(&time, &parts) == nullptr) {
    return std::to_string(unix_s);
  }
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace vmnuma::tools
