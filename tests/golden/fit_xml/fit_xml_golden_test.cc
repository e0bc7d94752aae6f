// SPDX-License-Identifier: Apache-2.0
/// Every domain XML in tests/fixtures/domain_xml as it arrives on a small host: CPU 0 and a single
/// node with memory, number 0. A file here is what libvirt is given instead; without one the XML
/// fits. VMNUMA_UPDATE_GOLDEN=1 rewrites the files; read the difference before committing it.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "balancer/host/domain_xml.h"
#include "balancer/host/fit_xml.h"
#include "tests/support/golden.h"

namespace vmnuma::balancer {
namespace {

const std::filesystem::path kFixtures =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/domain_xml";
const std::filesystem::path kGoldens =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/golden/fit_xml";

const HostSets kSmallHost{{CpuId{0}}, {NodeId{0}}};

class FitXmlGolden : public testing::TestWithParam<std::string> {};

TEST_P(FitXmlGolden, IsWhatLibvirtIsGiven) {
  const auto fitted = fit_xml(tests::file_text(kFixtures / (GetParam() + ".xml")), kSmallHost);
  ASSERT_TRUE(fitted.has_value()) << fitted.error().message;
  const std::string xml = *fitted ? (*fitted)->xml : "";
  EXPECT_EQ(xml, tests::golden(kGoldens / (GetParam() + ".xml"), xml));
  if (!xml.empty()) {
    EXPECT_TRUE(parse_domain_xml(xml, kMiB * 2).has_value());
    EXPECT_EQ(fit_xml(xml, kSmallHost)->has_value(), false) << "a second time changes it again";
  }
}

INSTANTIATE_TEST_SUITE_P(Libvirt, FitXmlGolden,
                         testing::ValuesIn(tests::fixture_names(kFixtures, ".xml")),
                         tests::fixture_case);

}  // namespace
}  // namespace vmnuma::balancer
