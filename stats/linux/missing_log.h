// SPDX-License-Identifier: Apache-2.0
/// Collects the sources of one VM that could not be read, for Sample::missing.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/sample.h"

namespace vmnuma::stats {

class MissingLog {
 public:
  explicit MissingLog(const VmDescription& vm) : id_(vm.id), prefix_("VM '" + vm.name + "'") {}

  /// Adds a source, such as "vCPU 3" or "memory.numa_stat"; an empty `what` means the whole VM.
  void add(std::string_view what, std::string reason) {
    std::string source = prefix_;
    if (!what.empty()) {
      source.append(" ").append(what);
    }
    entries_.push_back({std::move(source), std::move(reason), id_});
  }

  [[nodiscard]] const std::vector<MissingSource>& entries() const { return entries_; }

 private:
  VmId id_;
  std::string prefix_;
  std::vector<MissingSource> entries_;
};

}  // namespace vmnuma::stats
