// SPDX-License-Identifier: Apache-2.0
/// Builders of history rows, and a history in a directory of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stats/history/history.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::stats::tests {

/// 2024-01-01 00:00:00 UTC plus some: the beginning of a minute and an hour.
[[nodiscard]] WallTime at(std::chrono::milliseconds since);

/// The VM whose UUID is all zeros but for its last byte.
[[nodiscard]] VmId vm_id(std::uint8_t number);

/// An epoch of 2 s with nodes 0 and 1 and no clients. Node 0 used `used_us` of 4 CPUs, node 1 half
/// of that.
[[nodiscard]] EpochRows epoch_at(WallTime time, std::int64_t used_us = 1'000'000);

/// A client on node 1 with 4 vCPUs that wants `demand_us` of 8 s and got half of it; its memory is
/// 3 GiB local, 1 GiB remote.
[[nodiscard]] ClientSampleRow client_row(std::uint8_t vm, std::int32_t client,
                                         std::int64_t demand_us);

/// A load move of VM 1's client 0 from node 0 to node 1 on the given day.
[[nodiscard]] ActionRow action_row(std::int64_t id, WallTime time = at(std::chrono::seconds(0)));

class HistoryTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return directory_.path() + "/history.sqlite"; }
  /// Closes the history, if it is open, and opens it again.
  void reopen();
  /// The history; opened at the first use.
  History& history();
  /// One number from the file, read over a connection of its own.
  [[nodiscard]] std::int64_t number(const std::string& query) const;
  /// The stored samples, read likewise: nodes by time, then number; clients by time, then VM in the
  /// order they were first seen, then number.
  [[nodiscard]] std::vector<Kept<NodeSampleRow>> stored_nodes(
      const SampleFilter& filter = {}) const;
  [[nodiscard]] std::vector<Kept<ClientSampleRow>> stored_clients(
      SampleSpan span = SampleSpan::kEpoch) const;

  vmnuma::tests::TempDirectory directory_;
  HistoryOptions options_{.path = file()};
  std::unique_ptr<History> history_;
};

}  // namespace vmnuma::stats::tests
