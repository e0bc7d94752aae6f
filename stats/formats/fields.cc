// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/fields.h"

#include <algorithm>

namespace vmnuma::stats {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kMostQuotedBytes = 200;

}  // namespace

std::optional<std::string_view> take_line(std::string_view& rest) {
  if (rest.empty()) {
    return std::nullopt;
  }
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

std::optional<std::string_view> single_line(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos && end + 1 == text.size()
             ? std::optional(text.substr(0, end))
             : std::nullopt;
}

std::optional<std::string_view> take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  if (rest.empty()) {
    return std::nullopt;
  }
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

std::optional<std::uint64_t> to_address(std::string_view text) {
  constexpr int kHexadecimal = 16;
  return whole_number<std::uint64_t>(text, kHexadecimal);
}

std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  return text.substr(prefix.size());
}

Result<void> check_complete(std::string_view text, std::string_view format) {
  if (text.ends_with('\n')) {
    return {};
  }
  if (text.empty()) {
    return failure(ErrorCode::kCorrupt, "this is not " + std::string(format) + ": it is empty");
  }
  const std::size_t newline = text.rfind('\n');
  return bad_line(std::string(format) + ", its last line is cut off",
                  newline == std::string_view::npos ? text : text.substr(newline + 1));
}

tl::unexpected<Error> bad_line(std::string_view format, std::string_view line) {
  std::string quoted(line.substr(0, kMostQuotedBytes));
  std::replace_if(
      quoted.begin(), quoted.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return failure(ErrorCode::kCorrupt, "this is not " + std::string(format) + ": '" + quoted + "'");
}

}  // namespace vmnuma::stats
