// SPDX-License-Identifier: Apache-2.0
#include "stats/text/json.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/text/printable.h"

namespace vmnuma::text {

namespace {

/// Returns why the text must not be parsed; nothing if it may. Counts brackets and commas outside
/// strings, which gives at least as many values as a parser would find, whatever the text is.
std::optional<std::string> why_too_large(std::string_view json, const JsonLimits& limits) {
  if (json.size() > limits.bytes) {
    return fmt::format("is longer than {} bytes", limits.bytes);
  }
  struct Open {
    char bracket;
    std::size_t commas;
  };
  std::vector<Open> open;
  std::size_t values = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      open.push_back({c, 0});
      ++values;
    } else if (c == ',') {
      ++values;
      if (!open.empty() && ++open.back().commas >= limits.members && open.back().bracket == '{') {
        return fmt::format("has an object of more than {} members", limits.members);
      }
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    }
    if (open.size() > limits.depth) {
      return fmt::format("is nested more than {} deep", limits.depth);
    }
    if (values > limits.values) {
      return fmt::format("has more than {} values", limits.values);
    }
  }
  return std::nullopt;
}

}  // namespace

template <class Json>
Result<Json> read_json(std::string_view text, const JsonLimits& limits, std::string_view what) {
  if (const std::optional<std::string> why = why_too_large(text, limits)) {
    return failure(ErrorCode::kCorrupt, fmt::format("{} {}", what, *why));
  }
  Json json = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return failure(ErrorCode::kCorrupt, fmt::format("{} is not a JSON object", what));
  }
  return json;
}

template <class Json>
std::optional<std::int64_t> integer_of(const Json& value) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() &&
       !std::in_range<std::int64_t>(value.template get<std::uint64_t>()))) {
    return std::nullopt;
  }
  return value.template get<std::int64_t>();
}

template <class Json>
std::string json_text(const Json& value, int indent) {
  return escaped_json(
      value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

template Result<nlohmann::json> read_json<nlohmann::json>(std::string_view, const JsonLimits&,
                                                          std::string_view);
template Result<nlohmann::ordered_json> read_json<nlohmann::ordered_json>(std::string_view,
                                                                          const JsonLimits&,
                                                                          std::string_view);
template std::optional<std::int64_t> integer_of<nlohmann::json>(const nlohmann::json&);
template std::optional<std::int64_t> integer_of<nlohmann::ordered_json>(
    const nlohmann::ordered_json&);
template std::string json_text<nlohmann::json>(const nlohmann::json&, int);
template std::string json_text<nlohmann::ordered_json>(const nlohmann::ordered_json&, int);

}  // namespace vmnuma::text
