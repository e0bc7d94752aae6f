// SPDX-License-Identifier: Apache-2.0
/// Removes from a recording what reveals its VMs' owners.
///
/// Problem: a recording is worth showing to others, but names, UUIDs and reasons are confidential;
/// yet an anonymized recording must lead to the same plans, which use the order of UUIDs as the
/// last tie-breaker. Approach: every name is replaced when it is first seen; every UUID is replaced
/// by a number between those of its neighbours.
///
/// Properties:
///  - equal names stay equal, different ones stay different;
///  - the order of UUIDs is kept, and nothing else of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "placement/model/ids.h"

namespace vmnuma::balancer {

class Anonymizer {
 public:
  [[nodiscard]] VmId id(const VmId& vm);
  /// Replaces a VM's name, by "vm7"; empty stays empty.
  [[nodiscard]] std::string vm_name(const std::string& name);
  /// Replaces a group's name, by "group2"; empty stays empty.
  [[nodiscard]] std::string group(const std::string& name);
  /// Replaces a text that may be a name or a UUID.
  [[nodiscard]] std::string name_or_uuid(const std::string& text);
  /// False once there was no number left between the neighbours of a UUID, so the order is lost.
  [[nodiscard]] bool order_is_kept() const { return order_is_kept_; }

 private:
  __extension__ using Number = unsigned __int128;
  std::map<VmId, Number> numbers_;
  std::map<std::string, std::string> vm_names_;
  std::map<std::string, std::string> groups_;
  bool order_is_kept_ = true;
};

}  // namespace vmnuma::balancer
