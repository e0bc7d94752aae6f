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

TEST(TableTest, CutsNothing) {
  Table table({{"NAME"}, {"REST"}});
  table.add_row({std::string(50, 'n'), std::string(90, 'r')});
  EXPECT_EQ(table.text(), "NAME" + std::string(48, ' ') + "REST\n" + std::string(50, 'n') + "  " +
                              std::string(90, 'r') + "\n");
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
