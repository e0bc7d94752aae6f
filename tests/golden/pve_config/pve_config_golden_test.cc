// SPDX-License-Identifier: Apache-2.0
/// Every configuration in tests/fixtures/pve_config against a text of what the VM will be.
/// VMNUMA_UPDATE_GOLDEN=1 rewrites the texts; read the difference before committing it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "balancer/qemu/pve_vm.h"
#include "placement/model/text.h"
#include "tests/support/description_text.h"

namespace vmnuma::balancer::qemu {
namespace {

const std::filesystem::path kFixtures =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/pve_config";
const std::filesystem::path kGoldens =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/golden/pve_config";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string understood(const std::string& name) {
  const placement::VmDescription vm = describe_pve(
      parse_pve_config(read_file(kFixtures / (name + ".conf"))), 100, {placement::kMiB * 2, true});
  std::string text = tests::description_text(vm);
  for (const placement::GuestCell& cell : vm.cells) {
    if (cell.page_size) {
      text += "pages of cell " + std::to_string(cell.id) + "   " +
              std::to_string(cell.page_size->value / placement::kKiB.value) + " KiB\n";
    }
  }
  return text;
}

std::vector<std::string> fixture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFixtures)) {
    if (entry.path().extension() == ".conf") {
      names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class PveConfigGolden : public testing::TestWithParam<std::string> {};

TEST_P(PveConfigGolden, IsUnderstoodAsWritten) {
  const std::string text = understood(GetParam());
  const std::filesystem::path golden = kGoldens / (GetParam() + ".txt");
  if (std::getenv("VMNUMA_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(golden) << text;
  }
  EXPECT_EQ(text, read_file(golden));
}

INSTANTIATE_TEST_SUITE_P(Vms, PveConfigGolden, testing::ValuesIn(fixture_names()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace vmnuma::balancer::qemu
