// SPDX-License-Identifier: Apache-2.0
/// The sched-stats tables of the last epoch: the balancer's state in the terms of stats/reports.
#pragma once

#include <string>
#include <vector>

#include "balancer/controller/cpu_pins.h"
#include "balancer/core/ledger.h"
#include "migration/progress.h"
#include "placement/base/result.h"
#include "placement/model/snapshot.h"
#include "stats/reports/node_stays.h"
#include "stats/reports/report.h"

namespace vmnuma::balancer {

struct ReportSources {
  const Snapshot& snapshot;
  const Ledger& ledger;
  const stats::NodeStays& stays;
  const std::vector<migration::TransferProgress>& transfers;
  const std::map<VmId, VmCpus>& cpu_subsets;  ///< VMs that do not have the whole of their homes
};

/// Makes the table of this type. Error: not-found (no such type), naming the closest match.
[[nodiscard]] Result<stats::Report> make_report(const std::string& type,
                                                const ReportSources& sources);

}  // namespace vmnuma::balancer
