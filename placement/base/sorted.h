// SPDX-License-Identifier: Apache-2.0
/// Looks up entries of vectors that are sorted by a key.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>

namespace vmnuma {

/// Returns the entry whose member `key` has that value, by binary search; null if there is none.
/// `sorted` is ascending by that member.
template <class Entries, class Value, class Key>
[[nodiscard]] constexpr auto* find_sorted(Entries& sorted, const Value& value, Key key) {
  const auto found = std::ranges::lower_bound(sorted, value, {}, key);
  return found != sorted.end() && std::invoke(key, *found) == value ? &*found : nullptr;
}

}  // namespace vmnuma
