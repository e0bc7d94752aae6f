// SPDX-License-Identifier: Apache-2.0
#include "stats/history/loads.h"

#include <algorithm>
#include <utility>

#include "stats/history/read_only.h"
#include "stats/history/samples.h"

namespace vmnuma::stats {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;

struct Known {
  std::int64_t number = 0;
  VmLoads loads;
};

Result<std::vector<Known>> read_known_vms(SQLite::Database& database, std::string_view vm) {
  SQLite::Statement select =
      prepare(database,
              "SELECT number, uuid, name, memory_mib, shares, guest_os FROM vm"
              " WHERE ?1 = '' OR name = ?1 OR uuid = ?1 ORDER BY number",
              vm);
  std::vector<Known> vms;
  while (select.executeStep()) {
    VMNUMA_ASSIGN_OR_RETURN(const VmId id, vm_id_of(select.getColumn(1)));
    VmFacts facts;
    facts.name = select.getColumn(2).getString();
    facts.memory_mib = select.getColumn(3).getInt64();
    facts.shares = select.getColumn(4).getInt64();
    facts.guest_os = select.getColumn(5).getString();
    vms.push_back({select.getColumn(0).getInt64(), {id, std::move(facts), {}}});
  }
  return vms;
}

/// Reads from an index alone, as samples.h explains.
void read_minutes(SQLite::Database& database, std::int64_t until_ms, Known& vm) {
  SQLite::Statement select =
      prepare(database,
              "SELECT time_ms, SUM(demand_us) * 1000 / SUM(vcpus * epoch_us), SUM(vcpus)"
              " FROM client_sample INDEXED BY demand_by_vm WHERE vm = ? AND span > 0 AND span = ?"
              " AND time_ms < ? GROUP BY time_ms ORDER BY time_ms",
              vm.number, SampleSpan::kMinute, until_ms);
  while (select.executeStep()) {
    if (!select.isColumnNull(1)) {
      vm.loads.minutes.push_back(
          {select.getColumn(0).getInt64() / kMinuteMs,
           Permille{std::clamp<std::int64_t>(select.getColumn(1).getInt64(), 0, 1000)}});
      vm.loads.facts.vcpus = select.getColumn(2).getInt64();
    }
  }
}

}  // namespace

Result<std::int64_t> read_vm_loads(const std::filesystem::path& path, std::string_view vm,
                                   const std::function<bool(VmLoads)>& take) {
  return read_from(path, [&](SQLite::Database& database) -> Result<std::int64_t> {
    SQLite::Transaction transaction(database);  // so that all reads see the same state of the file
    VMNUMA_ASSIGN_OR_RETURN(auto vms, read_known_vms(database, vm));
    const std::int64_t until_ms = averaged_until_ms(database, SampleSpan::kEpoch);
    for (Known& known : vms) {
      read_minutes(database, until_ms, known);
      if (!known.loads.minutes.empty() && !take(std::move(known.loads))) {
        break;
      }
    }
    return until_ms / kMinuteMs;
  });
}

}  // namespace vmnuma::stats
