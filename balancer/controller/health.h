// SPDX-License-Identifier: Apache-2.0
/// What the balancer can do at the moment: which sources are missing, and whether it is paused.
///
/// Problem: libvirt, the history, a kernel file, a worker or the planner itself may fail and
/// recover. What is still possible depends on what is missing, and each change must be logged once.
/// Approach: a list of missing sources with reasons. Terms: *source* - a part of the host or of the
/// service, by name; a name that begins with '/' is a file that every sample reads. Properties:
///  1. The failure and the recovery of a source are each logged once; a changed reason is recorded.
///  2. A file works again if a sample does not list it as missing.
///  3. VMs are reached in active mode unless libvirt or the executor is missing; while paused, or
///     without a history, nothing is ordered.
///  4. Paused takes precedence over degraded, degraded over the configured mode.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "balancer/controller/events.h"
#include "balancer/model/mode.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

struct RecordFields;

class Health {
 public:
  struct Missing {
    std::string reason;
    std::int64_t since_unix_s = 0;
  };

  [[nodiscard]] Mode mode(Mode configured) const;
  [[nodiscard]] bool reaches_vms(Mode configured) const;
  [[nodiscard]] bool acts(Mode configured) const {
    return reaches_vms(configured) && !paused_ && !missing_.contains("history");
  }
  [[nodiscard]] bool is_paused() const { return paused_; }
  [[nodiscard]] const std::map<std::string, Missing>& missing() const { return missing_; }

  void set_paused(bool paused) { paused_ = paused; }
  void source_changed(const SourceChanged& change, Effects& effects);
  /// Notes the sources that a sample could not read; those concerning a single VM are left to the
  /// ledger.
  void sampled(const std::vector<MissingSource>& missing, std::int64_t now_unix_s,
               Effects& effects);
  /// Notes the check of the epoch's plan; `violation` is the first rule that it breaks, or empty.
  void planned(std::int64_t epoch, const std::string& violation, std::int64_t now_unix_s,
               Effects& effects);

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording contains of this

  std::map<std::string, Missing> missing_;
  bool paused_ = false;
};

}  // namespace vmnuma::balancer
