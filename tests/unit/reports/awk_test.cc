// SPDX-License-Identifier: Apache-2.0
/// Scripts in the manner of those that ESXi's users wrote, run over our tables.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "stats/reports/tables.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/reports/rows.h"

namespace vmnuma::stats::tests {
namespace {

class AwkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Asks the shell for awk, as a user's script would find it.
    if (std::system("command -v awk > /dev/null") != 0) {  // NOLINT(cert-env33-c)
      GTEST_SKIP() << "there is no awk on this machine";
    }
  }
  std::string awk(const std::string& script, const Report& report) {
    const std::string table = directory_.path() + "/table";
    std::ofstream(table) << format_report(with_numbers_only(report));
    const std::string command = "awk -f '" + golden_path(script) + "' '" + table + "' 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string output;
    std::array<char, 256> buffer{};
    while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
      output += buffer.data();
    }
    EXPECT_EQ(pipe == nullptr ? -1 : ::pclose(pipe), 0);
    return output;
  }
  vmnuma::tests::TempDirectory directory_;
};

TEST_F(AwkTest, SumsTheUsedTimePerNode) {
  EXPECT_EQ(awk("used_per_node.awk", pnode_table(pnode_samples())),
            "node 0: 95 of 32000 ms\n"
            "node 1: 141 of 32000 ms\n"
            "host: 236 of 64000 ms\n");
}

TEST_F(AwkTest, AlarmsBelowEightyPerCentLocal) {
  EXPECT_EQ(awk("locality_alarm.awk", client_table(client_samples())),
            "vm.4711 client 0 on node 3: 10 % local, 8.8 MB remote\n");
}

TEST_F(AwkTest, CountsTheMigrationsPerVm) {
  // 26 + 2; 166 + 2 and 2 + 1 + 3 + 4 + 5
  EXPECT_EQ(awk("migrations_per_vm.awk", migration_table(migration_samples())),
            "vm.2101536 28\n"
            "vm.2148863 183\n");
}

}  // namespace
}  // namespace vmnuma::stats::tests
