// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/reports/tables.h"
#include "tests/support/time_zone.h"
#include "tests/support/unknown_views.h"
#include "tests/support/views.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Listing two_rows() {
  Listing listing;
  listing.columns = {{"name", "NAME"},
                     {"bytes", "MEMORY", Table::Align::kRight},
                     {"uuid", "UUID", Table::Align::kLeft, Listing::Shown::kWide}};
  listing.rows = {{cell("a,\"b\""), bytes_cell(std::int64_t{2048}), cell("u1")},
                  {cell("c"), bytes_cell(std::nullopt), cell("u2")}};
  listing.names = {"a,\"b\"", "c", "c"};
  return listing;
}

TEST(ListingTest, AWideTableHasMoreColumns) {
  EXPECT_EQ(text_of(two_rows(), ListFormat::kTable),
            "NAME    MEMORY\n"
            "a,\"b\"  2.0 KiB\n"
            "c            -\n");
  EXPECT_EQ(text_of(two_rows(), ListFormat::kWide),
            "NAME    MEMORY  UUID\n"
            "a,\"b\"  2.0 KiB  u1\n"
            "c            -  u2\n");
}

TEST(ListingTest, CsvHasAllColumnsInTheirSmallestUnitAndNothingForTheUnknown) {
  EXPECT_EQ(text_of(two_rows(), ListFormat::kCsv),
            "name,bytes,uuid\n"
            "\"a,\"\"b\"\"\",2048,u1\n"
            "c,,u2\n");
}

TEST(ListingTest, EachNameIsPrintedOnce) {
  EXPECT_EQ(text_of(two_rows(), ListFormat::kName), "a,\"b\"\nc\n");
}

TEST(ListingTest, EveryListHasARowForEachAndAnAmountOfCellsThatFits) {
  const auto expect_fits = [](const Listing& listing, std::size_t rows) {
    EXPECT_EQ(listing.rows.size(), rows);
    for (const Listing::Row& row : listing.rows) {
      EXPECT_EQ(row.size(), listing.columns.size());
    }
  };
  expect_fits(listing_of(tests::history_view()), tests::history_view().moves.size());
  expect_fits(listing_of(tests::options_view()), tests::options_view().options.size());
  expect_fits(listing_of(tests::memory_view()), tests::memory_view().vms.size());
  expect_fits(listing_of(tests::policy_view()), tests::policy_view().keys.size());
  expect_fits(listing_of(balancer::ConfigView{{{"mode", "active", balancer::Origin::kFile}}, {}}),
              1);
  expect_fits(listing_of(tests::unknown<balancer::EventsView>()), 1);
  expect_fits(listing_of(tests::unknown<balancer::ReservationsView>()), 1);
  const stats::PnodeRow nodes[] = {{.node = 3}};
  expect_fits(listing_of(stats::pnode_table(nodes)), 1);
}

TEST(ListingTest, TimesAreLocalForPeopleAndUtcForPrograms) {
  const tests::TimeZone zone("UTC-2");
  EXPECT_EQ(time_cell(1738324800).text, "2025-01-31 14:00:00");
  EXPECT_EQ(time_cell(1738324800).value, "2025-01-31T12:00:00Z");
}

TEST(ListingTest, TheFirstColumnNamesWhatTheRowsOfATableAreAbout) {
  const stats::PnodeRow nodes[] = {{.node = 3}, {.node = 5}};
  EXPECT_EQ(text_of(listing_of(stats::pnode_table(nodes)), ListFormat::kName), "3\n5\n");
  const stats::ClientRow clients[] = {{.key = {.group_name = "vm.77"}},
                                      {.key = {.group_name = "vm.77", .client = 1}}};
  EXPECT_EQ(text_of(listing_of(stats::client_table(clients)), ListFormat::kName), "vm.77\n");
}

TEST(ListingTest, AReservationSaysForWhichVmHowMuchWhereAndUntilWhen) {
  const tests::TimeZone zone("UTC");
  balancer::ReservationsView view;
  view.reservations = {{"night",
                        "db 1",
                        "",
                        "db",
                        8,
                        {{1}, {2}},
                        {{{1}, 0, 3 * kGiB.value}, {{2}, 0, kGiB.value}},
                        1738324800,
                        {}},
                       {"web",
                        "web",
                        "",
                        "web",
                        4,
                        {{0}},
                        {{{0}, 2 << 20, kGiB.value}},
                        std::nullopt,
                        {"u"},
                        "shop",
                        true,
                        {{"web1", "u", 2, {{{0}, 2 << 20, 2 * kGiB.value}}}}}};
  EXPECT_EQ(text_of(view),
            "NAME   FOR              VCPUS   MEMORY    TAKEN  NODES  UNTIL\n"
            "night  db 1, db             8  4.0 GiB        -  1-2    2025-01-31 12:00:00\n"
            "web    web, owner shop      4  1.0 GiB  2.0 GiB  0      -\n");
  EXPECT_THAT(text_of(listing_of(view), ListFormat::kWide), HasSubstr("1 (3.0 GiB), 2 (1.0 GiB)"));
  EXPECT_THAT(text_of(listing_of(view), ListFormat::kWide), HasSubstr("0 (1.0 GiB of 2.0 MiB)"));
  EXPECT_EQ(text_of(listing_of(view), ListFormat::kName), "night\nweb\n");
  EXPECT_THAT(text_of(listing_of(view), ListFormat::kCsv),
              HasSubstr("web,web,web,shop,4,1073741824,2147483648,0,,1,0:1073741824:2097152\n"));
  EXPECT_EQ(text_of(balancer::ReservationsView{}), "Nothing is reserved.\n");
}

TEST(ListingTest, WhatHappenedToAReservationNamesItAndTheVm) {
  const tests::TimeZone zone("UTC");
  balancer::ReservationHistoryView view;
  EXPECT_EQ(text_of(view), "Nothing has happened to reservations.\n");
  view.events = {{1738324800, "web", "taken-up", "web1", "u", 1 << 20, "it takes"},
                 {1738324799, "web", "reserved", "", "", 2 << 20, "it is kept"}};
  EXPECT_EQ(text_of(view),
            "TIME                 RESERVATION  WHAT      VM     MEMORY\n"
            "2025-01-31 12:00:00  web          taken-up  web1  1.0 MiB\n"
            "2025-01-31 11:59:59  web          reserved  -     2.0 MiB\n");
  view.truncated = true;
  EXPECT_THAT(text_of(view), HasSubstr("There are more"));
  EXPECT_EQ(text_of(listing_of(view), ListFormat::kName), "web\n");
  EXPECT_THAT(text_of(listing_of(view), ListFormat::kCsv),
              HasSubstr("2025-01-31T12:00:00Z,web,taken-up,web1,1048576,u,it takes\n"));
}

TEST(ListingTest, AnEventNamesItsVms) {
  balancer::EventsView view;
  view.events = {{1, 1738324800, balancer::Severity::kWarning, "they part", {"a", "b"}, 7, ""}};
  EXPECT_EQ(text_of(listing_of(view), ListFormat::kName), "a\nb\n");
  EXPECT_THAT(text_of(listing_of(view), ListFormat::kTable),
              AllOf(StartsWith("TIME "), HasSubstr("  warning  they part\n")));
  EXPECT_EQ(text_of(listing_of(view), ListFormat::kCsv),
            "time,level,action,reason,vms,message\n"
            "2025-01-31T12:00:00Z,warning,7,,\"a, b\",they part\n");
}

}  // namespace
}  // namespace vmnuma::tools
