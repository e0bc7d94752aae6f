// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario/toml_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "placement/model/suggest.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

Result<Bytes> parse_size(std::string_view text) {
  constexpr std::pair<std::string_view, Bytes> kUnits[] = {
      {"MiB", kMiB}, {"GiB", kGiB}, {"TiB", kGiB * 1024}};
  constexpr Bytes kMost = kGiB * 1024 * 64;
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, bytes] : kUnits) {
    if (problem != std::errc{} || unit != name) {
      continue;
    }
    if (number < 0 || number > kMost.value / bytes.value) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is out of range, it goes from 0 to 64TiB", text));
    }
    return bytes * number;
  }
  return failure(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is not a size; write it as '512MiB', '32GiB' or '1TiB'", text));
}

TableReader::~TableReader() {
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const std::string_view key : others()) {
    complain(key, fmt::format("there is no key '{}'{}{}", key, where_, did_you_mean(key, known)));
  }
}

bool TableReader::has(std::string_view key) const {
  asked_.insert(std::string(key));
  return table_.contains(key);
}

void TableReader::complain(std::string_view key, std::string message) const {
  const auto& source = has(key) ? table_.find(key)->first.source() : table_.source();
  problems_.add(source.begin.line, std::move(message));
}

std::vector<std::string_view> TableReader::others() const {
  std::vector<std::string_view> others;
  for (const auto& [key, node] : table_) {
    if (!asked_.contains(key.str())) {
      others.push_back(key.str());
    }
  }
  return others;
}

void TableReader::require(std::string_view key) const {
  if (!has(key)) {
    complain(key, fmt::format("'{}' is missing{}", key, where_));
  }
}

void TableReader::wrong_kind(std::string_view key, std::string_view wanted) const {
  complain(key, fmt::format("'{}' is {}, but must be {}", key, kind_of(*table_.get(key)), wanted));
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, Range range) const {
  const auto* const number = node<std::int64_t>(key, "an integer");
  if (number == nullptr) {
    return std::nullopt;
  }
  const std::int64_t value = number->get();
  if (value < range.smallest || value > range.largest) {
    complain(key, fmt::format("'{}' = {} is out of range, it goes from {} to {}", key, value,
                              range.smallest, range.largest));
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> TableReader::text(std::string_view key) const {
  const auto* const text = node<std::string>(key, "a string");
  return text == nullptr ? std::nullopt : std::optional(text->get());
}

bool TableReader::truth(std::string_view key) const {
  const auto* const truth = node<bool>(key, "true or false");
  return truth != nullptr && truth->get();
}

std::optional<Permille> TableReader::share(std::string_view key) const {
  if (!has(key)) {
    return std::nullopt;
  }
  const toml::node* node = table_.get(key);
  const std::optional<double> value = node->value<double>();
  if (!node->is_number() || !value) {
    wrong_kind(key, "a number from 0 to 1");
    return std::nullopt;
  }
  if (!(*value >= 0 && *value <= 1)) {
    complain(key, fmt::format("'{}' is out of range, it goes from 0 to 1", key));
    return std::nullopt;
  }
  return Permille{std::llround(*value * 1000)};
}

std::optional<Bytes> TableReader::size(std::string_view key) const {
  const std::optional<std::string> written = text(key);
  if (!written) {
    return std::nullopt;
  }
  const Result<Bytes> bytes = parse_size(*written);
  if (!bytes) {
    complain(key, fmt::format("'{}': {}", key, bytes.error().message));
    return std::nullopt;
  }
  if (bytes->value % kSimPage.value != 0) {
    complain(key, fmt::format("'{}' = '{}' is not a multiple of 2MiB", key, *written));
    return std::nullopt;
  }
  return *bytes;
}

std::vector<NodeId> TableReader::nodes(std::string_view key) const {
  std::vector<NodeId> nodes;
  const toml::array* list = array(key);
  if (list == nullptr) {
    return nodes;
  }
  for (const toml::node& element : *list) {
    const std::optional<std::int32_t> number = element.value<std::int32_t>();
    if (!element.is_integer() || !number) {
      complain(key, fmt::format("'{}' must be an array of node numbers", key));
      return {};
    }
    nodes.push_back({*number});
  }
  return nodes;
}

std::optional<std::size_t> TableReader::word(std::string_view key,
                                             const std::vector<std::string_view>& words) const {
  const std::optional<std::string> written = text(key);
  if (!written) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(words, *written);
  if (found == words.end()) {
    complain(key, fmt::format("'{}' = '{}' must be one of {}{}", key, *written,
                              fmt::join(words, ", "), did_you_mean(*written, words)));
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - words.begin());
}

const toml::table* TableReader::table(std::string_view key) const {
  return node<toml::table>(key, "a table");
}

const toml::array* TableReader::array(std::string_view key) const {
  return node<toml::array>(key, "an array");
}

std::vector<const toml::table*> TableReader::tables(std::string_view key) const {
  std::vector<const toml::table*> tables;
  const toml::array* list = array(key);
  if (list == nullptr) {
    return tables;
  }
  for (const toml::node& element : *list) {
    if (!element.is_table()) {
      complain(key, fmt::format("'{}' must be an array of tables", key));
      return {};
    }
    tables.push_back(element.as_table());
  }
  return tables;
}

}  // namespace vmnuma::tools
