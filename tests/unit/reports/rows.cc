// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reports/rows.h"

#include <fstream>
#include <iterator>

namespace vmnuma::stats::tests {

std::vector<PnodeRow> pnode_samples() {
  return {{0, 95, 31905, 300, 0, 0, 2, 118910736, 133821428},
          {1, 141, 31859, 0, 0, 0, 8, 128794912, 134217728}};
}

std::vector<ClientRow> client_samples() {
  const auto key = [](const char* name, std::int64_t id, std::int64_t client) {
    return ClientKey{name, id, client, "a VM", "c7a5fdbd-edaf-9455-926a-d65c16db1809"};
  };
  return {{key("vm.2100615", 13424, 0), 1, "0x3", 4, 4, 16369664, 407552, 97, 92},
          {key("vm.2101091", 16408, 0), 0, "0x3", 2, 2, 4182016, 12288, 99, 99},
          {key("vm.2100891", 14814, 0), 1, "0x3", 16, 16, 60659712, 6449152, 90, 84},
          {key("vm.2101216", 17004, 0), 0, "0x3", 8, 8, 16777216, 0, 100, 99},
          {key("vm.3850537", 14605619, 0), 0, "0x3", 16, 16, 26624, 0, 100, 100},
          {key("vm.3850537", 14605619, 1), 1, "0x3", 14, 14, 0, 0, 0, 0},
          {key("vm.4711", 7, 0), 3, "0x1000f", 2, 2, 1000, 9000, 10, 40},
          {key("vm.4712", 8, 0), {}, "0x1000f", {}, 2, {}, {}, {}, {}}};
}

std::vector<MigrationRow> migration_samples() {
  const auto key = [](const char* name, std::int64_t id, std::int64_t client) {
    return ClientKey{name, id, client, "a VM", "c7a5fdbd-edaf-9455-926a-d65c16db1809"};
  };
  return {{key("vm.2101536", 26406, 0), {0, 26, 0, 0, 2, 0}},
          {key("vm.2148863", 232056, 0), {0, 166, 0, 0, 2, 223}},
          {key("vm.2148863", 232056, 1), {2, 1, 3, 4, 5, 10}}};
}

std::vector<CnodeRow> cnode_samples() {
  const ClientKey key{"vm.2100615", 13424, 0, "a VM", "c7a5fdbd-edaf-9455-926a-d65c16db1809"};
  return {{key, 0, 4668026, 49, 407552, 2, 0, 0}, {key, 1, 4705882, 50, 16369664, 97, 9, 1}};
}

std::string golden_path(const std::string& name) {
  return std::string(VMNUMA_SOURCE_DIR) + "/tests/golden/reports/" + name;
}

std::string golden(const std::string& name) {
  std::ifstream in(golden_path(name));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace vmnuma::stats::tests
