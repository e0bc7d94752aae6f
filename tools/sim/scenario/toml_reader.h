// SPDX-License-Identifier: Apache-2.0
/// Reads TOML tables strictly: every key must be known, every value of the right type and in range.
///
/// Problem: if a misspelt key is ignored, the scenario is not the intended one. Approach: a
/// TableReader remembers the keys that it was asked for; at its end it reports all other keys of
/// its table. Each get function reports a value of the wrong type or out of range and returns the
/// default, so that one run finds all problems.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "balancer/config/toml_problems.h"
#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma::tools {

using balancer::kind_of;
using Problems = balancer::TomlProblems;

struct Range {
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
};

class TableReader {
 public:
  /// `where` is for messages: " in [host]".
  TableReader(Problems& problems, const toml::table& table, std::string where)
      : problems_(problems), table_(table), where_(std::move(where)) {}
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;
  /// Reports the others().
  ~TableReader();

  [[nodiscard]] bool has(std::string_view key) const;
  /// Reports a problem in the line of a key, or in that of the table if it has no such key.
  void complain(std::string_view key, std::string message) const;
  /// Returns the keys of the table that were neither asked for nor complained about so far.
  [[nodiscard]] std::vector<std::string_view> others() const;

  /// Reports a problem if the key is missing.
  void require(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, Range range) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, Range range,
                                     std::int64_t standard) const {
    return integer(key, range).value_or(standard);
  }
  /// Sets `number`, which must have room for the range, if the table has the key.
  template <std::integral Number>
  void set(std::string_view key, Range range, Number& number) const {
    number = static_cast<Number>(integer(key, range, static_cast<std::int64_t>(number)));
  }
  /// Sets what the row names, if the table has its key.
  template <class Target>
  void set(const balancer::KeyInfo<Target>& row, Target& target) const {
    if (has(row.name)) {
      const auto entry = table_.find(row.name);
      (void)balancer::read_key(problems_, target, row, entry->first, entry->second);
    }
  }
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] bool truth(std::string_view key) const;  ///< false if missing
  /// Returns a share from 0 to 1, in thousandths.
  [[nodiscard]] std::optional<Permille> share(std::string_view key) const;
  /// Returns a size such as "32GiB", a multiple of the simulated page.
  [[nodiscard]] std::optional<Bytes> size(std::string_view key) const;
  [[nodiscard]] std::vector<NodeId> nodes(std::string_view key) const;
  /// Returns the index of one of the words.
  [[nodiscard]] std::optional<std::size_t> word(std::string_view key,
                                                const std::vector<std::string_view>& words) const;
  /// Returns the table below the key, or null.
  [[nodiscard]] const toml::table* table(std::string_view key) const;
  /// Returns the array of tables below the key; empty if missing.
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key) const;
  [[nodiscard]] const toml::array* array(std::string_view key) const;

 private:
  void wrong_kind(std::string_view key, std::string_view wanted) const;
  /// Returns the key's node, or null if it is missing or of another kind, which is a problem.
  template <class T>
  [[nodiscard]] const auto* node(std::string_view key, std::string_view wanted) const {
    const bool is_there = has(key);
    const auto* const as_wanted = table_.get_as<T>(key);
    if (as_wanted == nullptr && is_there) {
      wrong_kind(key, wanted);
    }
    return as_wanted;
  }

  Problems& problems_;
  const toml::table& table_;
  std::string where_;
  mutable std::set<std::string, std::less<>> asked_;
};

/// Parses a size such as "32GiB" or "512MiB", at most 64 TiB. Error: invalid-argument.
[[nodiscard]] Result<Bytes> parse_size(std::string_view text);

}  // namespace vmnuma::tools
