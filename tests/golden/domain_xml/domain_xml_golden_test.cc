// SPDX-License-Identifier: Apache-2.0
/// Every domain XML in tests/fixtures/domain_xml against a text of what was understood of it.
/// VMNUMA_UPDATE_GOLDEN=1 rewrites the texts; read the difference before committing it.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "balancer/host/domain_xml.h"
#include "placement/model/amounts.h"
#include "tests/support/description_text.h"
#include "tests/support/golden.h"

namespace vmnuma::balancer {
namespace {

using tests::description_text;

const std::filesystem::path kFixtures =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/domain_xml";
const std::filesystem::path kGoldens =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/golden/domain_xml";

class DomainXmlGolden : public testing::TestWithParam<std::string> {};

TEST_P(DomainXmlGolden, IsUnderstoodAsWritten) {
  const std::string xml = tests::file_text(kFixtures / (GetParam() + ".xml"));
  const auto vm = parse_domain_xml(xml, /*default_huge_page_size=*/kMiB * 2);
  ASSERT_TRUE(vm.has_value()) << vm.error().message;
  const std::string text = description_text(*vm);
  EXPECT_EQ(text, tests::golden(kGoldens / (GetParam() + ".txt"), text));
}

INSTANTIATE_TEST_SUITE_P(Libvirt, DomainXmlGolden,
                         testing::ValuesIn(tests::fixture_names(kFixtures, ".xml")),
                         tests::fixture_case);

}  // namespace
}  // namespace vmnuma::balancer
