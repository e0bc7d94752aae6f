// SPDX-License-Identifier: Apache-2.0
/// Makes a vector of what a function returns for each element of a range.
#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace vmnuma {

/// Returns function(element) for each element of `range`, in its order. `function` may be a member.
/// The elements of the result are of type As, by default of the type that the function returns,
/// without const and reference.
template <class As = void, class Range, class Function>
[[nodiscard]] constexpr auto mapped(Range&& range, Function function) {
  using Returned =
      std::remove_cvref_t<std::invoke_result_t<Function&, decltype(*std::begin(range))>>;
  std::vector<std::conditional_t<std::is_void_v<As>, Returned, As>> values;
  if constexpr (requires { std::size(range); }) {
    values.reserve(std::size(range));
  }
  for (auto&& element : range) {
    values.emplace_back(std::invoke(function, std::forward<decltype(element)>(element)));
  }
  return values;
}

}  // namespace vmnuma
