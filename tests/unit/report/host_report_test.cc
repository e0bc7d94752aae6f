// SPDX-License-Identifier: Apache-2.0
// The page and the text are in tests/golden/report. VMNUMA_UPDATE_GOLDEN=1 rewrites the files; read
// the difference before committing it.
#include "tools/vmnuma/report/host_report.h"

#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/time_zone.h"
#include "tests/unit/report/past.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HostReportTest : public ::testing::Test {
 private:
  tests::TimeZone zone_{"UTC"};
};

std::string golden(const std::string& name, const std::string& text) {
  return tests::golden(std::string(VMNUMA_SOURCE_DIR) + "/tests/golden/report/" + name, text);
}

TEST_F(HostReportTest, TextSumsUpNodesLocalityAndMoves) {
  const std::string text = report_text(hour_report());
  EXPECT_EQ(text, golden("hour.txt", text));
}

TEST_F(HostReportTest, PageHasTheMapTheChartsAndEveryMove) {
  const std::string page = report_html(hour_report());
  EXPECT_EQ(page, golden("hour.html", page));
}

TEST_F(HostReportTest, JsonHasTheFiguresOfTheText) {
  EXPECT_EQ(
      report_json(hour_report()),
      R"({"host":"host<1>","since":"2025-01-31T11:00:00Z","until":"2025-01-31T12:00:00Z",)"
      R"("nodes":[{"node":0,"vm_load_permille":800,"highest_vm_load_permille":1040,)"
      R"("non_vm_permille":200,"owed_permille":110},)"
      R"({"node":1,"vm_load_permille":400,"highest_vm_load_permille":700,)"
      R"("non_vm_permille":0,"owed_permille":0}],)"
      R"("reasons":[{"reason":"initial-placement","done":1,"undone":0,"dropped":0,"open":0,)"
      R"("measured":0,"promised_ms":null,"brought_ms":null},)"
      R"({"reason":"load-move","done":1,"undone":1,)"
      R"("dropped":0,"open":0,"measured":1,"promised_ms":420,"brought_ms":403}],)"
      R"("vms":[{"vm":"web<1>","vm_uuid":"u","cpu_some_permille":123,)"
      R"("memory_some_permille":40,"memory_full_permille":null,"huge_page_permille":250,"memory_stall_permille":330},)"
      R"({"vm":"idle","vm_uuid":"v","cpu_some_permille":0,)"
      R"("memory_some_permille":null,"memory_full_permille":null,"huge_page_permille":null,"memory_stall_permille":null}],)"
      R"("locality_first_permille":500,"locality_last_permille":615,"moved_bytes":1073741824})");
}

TEST_F(HostReportTest, NamesCannotBecomeMarkup) {
  const std::string page = report_html(hour_report());
  EXPECT_THAT(page, Not(HasSubstr("web<1>")));
  EXPECT_THAT(page, Not(HasSubstr("host<1>")));
  EXPECT_THAT(page, HasSubstr("web&lt;1&gt;/0"));
}

TEST_F(HostReportTest, PageNeedsNothingFromElsewhere) {
  const std::string page = report_html(hour_report());
  for (const std::string_view link : {"src=", "href=", "url(", "@import", "<script", "http"}) {
    EXPECT_THAT(page, Not(HasSubstr(std::string(link))));
  }
}

TEST_F(HostReportTest, EveryElementIsClosed) {
  const std::string page = report_html(hour_report());
  std::vector<std::string> open;
  // "<name ...>", "</name>" and "<name .../>"; "<!DOCTYPE html>" is none of them.
  std::string_view rest = page;
  for (std::size_t at = rest.find('<'); at != std::string_view::npos; at = rest.find('<')) {
    rest.remove_prefix(at + 1);
    const bool closes = rest.starts_with('/');
    rest.remove_prefix(closes ? 1 : 0);
    const std::string_view tag = rest.substr(0, rest.find('>'));
    const std::string name(tag.substr(0, tag.find_first_of(" /")));
    if (name.starts_with('!')) {
      continue;
    }
    if (closes) {
      ASSERT_FALSE(open.empty()) << name;
      EXPECT_EQ(open.back(), name);
      open.pop_back();
    } else if (!tag.ends_with('/') && name != "meta") {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST_F(HostReportTest, PageWithoutADaemonSaysWhatItLacks) {
  HostReport report = hour_report();
  report.host.reset();
  report.why_no_host = "cannot connect to '/s'";
  EXPECT_THAT(report_html(report), HasSubstr("Not known: cannot connect to &#39;/s&#39;"));
}

TEST_F(HostReportTest, NothingInTheHistoryIsSaid) {
  HostReport report = hour_report();
  report.past = {};
  EXPECT_THAT(report_html(report), HasSubstr("<p>Nothing was recorded.</p>"));
  EXPECT_THAT(report_html(report), HasSubstr("<p>None.</p>"));
  EXPECT_THAT(report_text(report), HasSubstr("No samples.\n\nNo moves.\n"));
}

TEST_F(HostReportTest, LongTimesStaySmall) {
  HostReport report = hour_report();
  const auto samples = report.past.nodes;
  for (int i = 0; i < 5000; ++i) {
    report.past.nodes.insert(report.past.nodes.end(), samples.begin(), samples.end());
  }
  EXPECT_LT(report_html(report).size(), 60'000U);
}

}  // namespace
}  // namespace vmnuma::tools
