// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/table.h"

#include <string>

#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using Align = Table::Align;

TEST(TableTest, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({{"NAME"}, {"N", Align::kRight}, {"X"}});
  table.add_row({"a", "1", "p"});
  table.add_row({"longer", "1000", ""});
  EXPECT_EQ(table.text(),
            "NAME       N  X\n"
            "a          1  p\n"
            "longer  1000\n");
}

TEST(TableTest, EmptyTableIsItsHeader) {
  Table table({{"A"}, {"B"}});
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.text(), "A  B\n");
}

TEST(TableTest, CutsTheMarkedColumnToFitTheTerminal) {
  Table table({{"NAME", Align::kShrinks}, {"REST"}});
  table.add_row({std::string(50, 'n'), std::string(40, 'r')});
  // 80 columns less 2 for the gap and 40 for the rest leave 38.
  EXPECT_EQ(table.text(), "NAME                                    REST\n" + std::string(35, 'n') +
                              "...  " + std::string(40, 'r') + "\n");
}

TEST(TableTest, LeavesWhatCannotBeCut) {
  Table table({{"NAME", Align::kShrinks}, {"REST"}});
  table.add_row({"0123456789", std::string(90, 'r')});
  EXPECT_EQ(table.text(), "NAME      REST\n01234...  " + std::string(90, 'r') + "\n");
}

TEST(TableTest, CountsCharactersNotBytes) {
  Table table({{"A"}, {"B"}});
  table.add_row({"größe", "x"});
  table.add_row({"abcde", "y"});
  EXPECT_EQ(table.text(), "A      B\ngröße  x\nabcde  y\n");
}

TEST(TableTest, ControlCharactersAreReplaced) {
  Table table({{"A"}});
  table.add_row({"a\x1b[31mb\n"});
  EXPECT_EQ(table.text(), "A\na\\x1b[31mb\\n\n");
}

}  // namespace
}  // namespace vmnuma::tools
