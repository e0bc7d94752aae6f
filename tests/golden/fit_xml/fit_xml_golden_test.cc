// SPDX-License-Identifier: Apache-2.0
/// Every domain XML in tests/fixtures/domain_xml as it arrives on a small host: CPU 0 and a single
/// node with memory, number 0. A file here is what libvirt is given instead; without one the XML
/// fits. VMNUMA_UPDATE_GOLDEN=1 rewrites the files; read the difference before committing it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "balancer/host/domain_xml.h"
#include "balancer/host/fit_xml.h"

namespace vmnuma::balancer {
namespace {

const std::filesystem::path kFixtures =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/domain_xml";
const std::filesystem::path kGoldens =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/golden/fit_xml";

const HostSets kSmallHost{{placement::CpuId{0}}, {placement::NodeId{0}}};

/// Empty if there is no such file.
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

class FitXmlGolden : public testing::TestWithParam<std::string> {};

TEST_P(FitXmlGolden, IsWhatLibvirtIsGiven) {
  const auto fitted = fit_xml(read_file(kFixtures / (GetParam() + ".xml")), kSmallHost);
  ASSERT_TRUE(fitted.has_value()) << fitted.error().message;
  const std::string xml = *fitted ? (*fitted)->xml : "";
  const std::filesystem::path golden = kGoldens / (GetParam() + ".xml");
  if (std::getenv("VMNUMA_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::remove(golden);
    if (!xml.empty()) {
      std::ofstream(golden) << xml;
    }
  }
  EXPECT_EQ(xml, read_file(golden));
  if (!xml.empty()) {
    EXPECT_TRUE(parse_domain_xml(xml, placement::kMiB * 2).has_value());
    EXPECT_EQ(fit_xml(xml, kSmallHost)->has_value(), false) << "a second time changes it again";
  }
}

INSTANTIATE_TEST_SUITE_P(Libvirt, FitXmlGolden, testing::ValuesIn(fixture_names()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace vmnuma::balancer
