// SPDX-License-Identifier: Apache-2.0
/// The tables node_sample, client_sample, vm_sample and vm: appends, averages and reads epochs.
/// Internal to stats/history; History documents each function. All of them may throw
/// SQLite::Exception.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/Database.h>

#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

/// Within the caller's transaction, adds one epoch. Replaces rows with the same time.
void insert_epoch(SQLite::Database& database, const EpochRows& epoch);

/// Within the caller's transaction, computes the averages that are due at `now_ms`, for at most one
/// minute and one hour. A backlog after a stop or a clock jump is reduced by that much per call, so
/// no call takes long.
void make_averages(SQLite::Database& database, std::int64_t now_ms);

/// Returns the time up to which rows of `span` have been averaged into the next longer span, and
/// may be deleted; for hours there is no limit.
[[nodiscard]] std::int64_t averaged_until_ms(SQLite::Database& database, SampleSpan span);

/// Returns the rows by time, then node.
[[nodiscard]] std::vector<Kept<NodeSampleRow>> read_node_samples(SQLite::Database& database,
                                                                 const SampleFilter& filter);
/// Returns the query for the demand of the VM with the UUID `?` in each average of `span`, in
/// thousandths. A VM's start waits for the answer, which covers up to 43,200 minutes among the rows
/// of hundreds of VMs, so the query must be answered from an index alone.
[[nodiscard]] std::string demand_query(SampleSpan span);
[[nodiscard]] std::optional<Permille> read_cpu_p95(SQLite::Database& database, const VmId& vm);

}  // namespace vmnuma::stats
