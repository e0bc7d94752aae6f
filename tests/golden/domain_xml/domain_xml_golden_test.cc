// SPDX-License-Identifier: Apache-2.0
/// Every domain XML in tests/fixtures/domain_xml against a text of what was understood of it.
/// VMNUMA_UPDATE_GOLDEN=1 rewrites the texts; read the difference before committing it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "balancer/host/domain_xml.h"
#include "placement/model/amounts.h"
#include "tests/support/description_text.h"

namespace vmnuma::balancer {
namespace {

using tests::description_text;

const std::filesystem::path kFixtures =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/domain_xml";
const std::filesystem::path kGoldens =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/golden/domain_xml";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> fixture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFixtures)) {
    if (entry.path().extension() == ".xml") {
      names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class DomainXmlGolden : public testing::TestWithParam<std::string> {};

TEST_P(DomainXmlGolden, IsUnderstoodAsWritten) {
  const std::string xml = read_file(kFixtures / (GetParam() + ".xml"));
  const auto vm = parse_domain_xml(xml, /*default_huge_page_size=*/placement::kMiB * 2);
  ASSERT_TRUE(vm.has_value()) << vm.error().message;
  const std::filesystem::path golden = kGoldens / (GetParam() + ".txt");
  if (std::getenv("VMNUMA_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(golden) << description_text(*vm);
  }
  EXPECT_EQ(description_text(*vm), read_file(golden));
}

INSTANTIATE_TEST_SUITE_P(Libvirt, DomainXmlGolden, testing::ValuesIn(fixture_names()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace vmnuma::balancer
