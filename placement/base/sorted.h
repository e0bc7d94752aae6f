// SPDX-License-Identifier: Apache-2.0
/// Makes sorted vectors, and looks up their entries.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

namespace vmnuma {

/// Returns the values in ascending order, each once.
template <class T>
[[nodiscard]] constexpr std::vector<T> sorted_unique(std::vector<T> values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Returns the entry whose member `key` has that value, by binary search; null if there is none.
/// `sorted` is ascending by that member.
template <class Entries, class Value, class Key>
[[nodiscard]] constexpr auto* find_sorted(Entries& sorted, const Value& value, Key key) {
  const auto found = std::ranges::lower_bound(sorted, value, {}, key);
  return found != sorted.end() && std::invoke(key, *found) == value ? &*found : nullptr;
}

}  // namespace vmnuma
