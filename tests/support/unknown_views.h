// SPDX-License-Identifier: Apache-2.0
/// Views of a host of which as much as possible is unknown: every value that may be absent is, and
/// all others have values without the digit 0. So a 0 in anything made from these views was
/// invented.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/protocol/view_fields.h"

namespace vmnuma::tests {

inline constexpr std::int64_t kSomeUnixS = 1'738'325'471;  // 2025-01-31T12:11:11Z

/// Visits the fields of a view and gives each a value.
class UnknownFields {
 public:
  template <class T, class... Notes>
  void operator()(std::string_view /*name*/, T& value, const Notes&... /*of it*/) {
    fill(value);
  }
  void time(std::string_view /*name*/, std::int64_t& unix_s) { unix_s = kSomeUnixS; }
  void time(std::string_view /*name*/, std::optional<std::int64_t>& unix_s) { unix_s.reset(); }

 private:
  void fill(std::int64_t& value) { value = 7; }
  void fill(std::int32_t& value) { value = 7; }
  void fill(bool& value) { value = true; }
  void fill(std::string& value) { value = "word"; }
  void fill(NodeId& value) { value = {7}; }
  void fill(CpuId& value) { value = {7}; }
  void fill(CacheScheduling& value) { value = CacheScheduling::kOn; }
  void fill(balancer::Mode& value) { value = balancer::Mode::kActive; }
  void fill(balancer::Severity& value) { value = balancer::Severity::kNotice; }
  void fill(balancer::Origin& value) { value = balancer::Origin::kFile; }
  template <class T>
  void fill(std::optional<T>& value) {
    value.reset();
  }
  template <class T>
  void fill(std::vector<T>& values) {
    values.resize(1);
    fill(values.front());
  }
  /// Memory by node, which is empty if unknown.
  void fill(std::vector<std::int64_t>& values) { values.clear(); }
  template <class View>
  requires std::is_class_v<View>
  void fill(View& view) { visit_fields(*this, view); }
};

template <class View>
View unknown() {
  View view;
  UnknownFields fields;
  visit_fields(fields, view);
  return view;
}

}  // namespace vmnuma::tests
