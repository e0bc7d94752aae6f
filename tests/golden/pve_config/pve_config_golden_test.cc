// SPDX-License-Identifier: Apache-2.0
/// Every configuration in tests/fixtures/pve_config against a text of what the VM will be.
/// VMNUMA_UPDATE_GOLDEN=1 rewrites the texts; read the difference before committing it.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "balancer/qemu/pve_vm.h"
#include "placement/model/text.h"
#include "tests/support/description_text.h"
#include "tests/support/golden.h"

namespace vmnuma::balancer::qemu {
namespace {

const std::filesystem::path kFixtures =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/pve_config";
const std::filesystem::path kGoldens =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/golden/pve_config";

std::string understood(const std::string& name) {
  const VmDescription vm = describe_pve(
      parse_pve_config(tests::file_text(kFixtures / (name + ".conf"))), 100, {kMiB * 2, true});
  std::string text = tests::description_text(vm);
  for (const GuestCell& cell : vm.cells) {
    if (cell.page_size) {
      text += "pages of cell " + std::to_string(cell.id) + "   " +
              std::to_string(cell.page_size->value / kKiB.value) + " KiB\n";
    }
  }
  return text;
}

class PveConfigGolden : public testing::TestWithParam<std::string> {};

TEST_P(PveConfigGolden, IsUnderstoodAsWritten) {
  const std::string text = understood(GetParam());
  EXPECT_EQ(text, tests::golden(kGoldens / (GetParam() + ".txt"), text));
}

INSTANTIATE_TEST_SUITE_P(Vms, PveConfigGolden,
                         testing::ValuesIn(tests::fixture_names(kFixtures, ".conf")),
                         tests::fixture_case);

}  // namespace
}  // namespace vmnuma::balancer::qemu
