// SPDX-License-Identifier: Apache-2.0
/// Orders as text, for the journal and the history: one JSON object with keys named like the
/// members.
///
/// {"action":7,"epoch":40,"reason":"load-move",
///  "changes":[{"vm":"UUID","name":"web1","pid":812,"start_time_ticks":5511,"domain_id":3,
///   "homes":[{"client":0,"from":0,"to":1}],
///   "pins":[{"thread":"vcpu","number":0,"before":"0-7","after":"8-15"}],
///   "quotas":[{"node":1,"bytes":1073741824}],"memory_mode":"soft",
///   "allowed_before":"0-1","allowed_after":""}],
///  "predicted":{"lost_before_us":1,"lost_after_us":0,"cost_us":2,
///   "imbalance_before":0,"imbalance_after":0,"locality_before":0,"locality_after":1000,
///   "known":true}}
/// Older orders lack domain_id and known. Properties: parsing what was written gives the same
/// order; any other text is rejected as a whole.
#pragma once

#include <string>
#include <string_view>

#include "migration/order.h"
#include "placement/base/result.h"

namespace vmnuma::migration {

[[nodiscard]] std::string to_text(const Order& order);

/// Parses an order. Error: corrupt, saying what is missing or wrong.
[[nodiscard]] Result<Order> parse_order(std::string_view text);

}  // namespace vmnuma::migration
