// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/xml_fields.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

using testing::HasSubstr;

TEST(XmlFieldsTest, ReadsNumbersWithBlanksAndInHexadecimal) {
  XmlFields fields;
  EXPECT_EQ(fields.number(" 42\n", "n", 0, 100), 42);
  EXPECT_EQ(fields.number("0x1f", "n", 0, 100), 31);
  EXPECT_FALSE(fields.complaint());
}

TEST(XmlFieldsTest, RefusesWhatIsNotAWholeNumberInRange) {
  for (const char* text :
       {"", " ", "4x", "x", "-1", "101", "99999999999999999999", "0x", "1 2", "+3"}) {
    XmlFields fields;
    EXPECT_EQ(fields.number(text, "the number", 1, 100), 1) << text;
    ASSERT_TRUE(fields.complaint()) << text;
    EXPECT_THAT(*fields.complaint(), HasSubstr("the number")) << text;
  }
}

TEST(XmlFieldsTest, KnowsAllUnitsOfLibvirt) {
  const std::pair<const char*, std::int64_t> units[] = {
      {"", 1024},          {"b", 1},
      {"bytes", 1},        {"byte", 1},
      {"k", 1024},         {"KiB", 1024},
      {"KB", 1000},        {"kib", 1024},
      {"M", 1048576},      {"MiB", 1048576},
      {"MB", 1000000},     {"G", 1073741824},
      {"GiB", 1073741824}, {"GB", 1000000000},
      {"TiB", 1LL << 40},  {"TB", 1000000000000},
      {"PiB", 1LL << 50},  {"PB", 1000000000000000},
      {"EiB", 1LL << 60},  {"EB", 1000000000000000000},
  };
  for (const auto& [unit, bytes] : units) {
    XmlFields fields;
    EXPECT_EQ(fields.size("3", unit, "size"), Bytes{3 * bytes}) << unit;
    EXPECT_FALSE(fields.complaint()) << unit;
  }
}

TEST(XmlFieldsTest, RefusesUnitsThatDoNotExist) {
  for (const char* unit : {"X", "KiX", "KiBB", "iB", "K B", "pages"}) {
    XmlFields fields;
    EXPECT_EQ(fields.size("3", unit, "size"), Bytes{}) << unit;
    EXPECT_TRUE(fields.complaint()) << unit;
  }
}

TEST(XmlFieldsTest, RefusesASizeBeyond63Bits) {
  XmlFields fits;
  EXPECT_EQ(fits.size("7", "EiB", "size"), Bytes{7LL << 60});
  EXPECT_FALSE(fits.complaint());
  XmlFields too_large;
  EXPECT_EQ(too_large.size("8", "EiB", "size"), Bytes{});
  EXPECT_TRUE(too_large.complaint());
}

TEST(XmlFieldsTest, RefusesListsThatAreMalformedOrBeyondTheLimit) {
  for (const char* text : {"a", "0-", "3-1", "16384", "^", "0-3,^", "0-3,^1-2", "0,^0", "^3",
                           "0,,^1", "0-3,^x", "0-3,^-1", "0-65535,0-65535,^1"}) {
    XmlFields fields;
    EXPECT_TRUE(fields.cpus(text, "cpuset").empty()) << text;
    EXPECT_TRUE(fields.complaint()) << text;
  }
  XmlFields fields;
  EXPECT_TRUE(fields.nodes("1024", "nodeset").empty());
  EXPECT_TRUE(fields.complaint());
}

TEST(XmlFieldsTest, TakesExcludedNumbersOutOfWhatWasNamedBefore) {
  const auto list = [](std::string_view text) {
    XmlFields fields;
    const auto cpus = fields.cpus(text, "cpuset");
    EXPECT_FALSE(fields.complaint()) << *fields.complaint();
    return to_list(cpus);
  };
  EXPECT_EQ(list("1-4,^3,2"), "1-2,4");
  EXPECT_EQ(list("0-7, ^4 ,^5,^9"), "0-3,6-7");
  EXPECT_EQ(list("^4,0-5"), "0-5");
  EXPECT_EQ(list("0,^0,0"), "0");
}

TEST(XmlFieldsTest, RemembersTheFirstComplaint) {
  XmlFields fields;
  fields.complain("first");
  fields.complain("second");
  EXPECT_EQ(fields.complaint(), "first");
}

TEST(XmlFieldsTest, KeepsAComplaintShortWhateverTheInput) {
  XmlFields fields;
  fields.complain(std::string(100000, 'x'));
  EXPECT_LE(fields.complaint()->size(), 400U);
}

}  // namespace
}  // namespace vmnuma::balancer
