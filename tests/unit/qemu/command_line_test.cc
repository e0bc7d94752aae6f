// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer::qemu {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CommandLineTest, KnowsQemuByTheNameOfTheProgram) {
  EXPECT_TRUE(is_qemu("/usr/bin/qemu-system-x86_64\0-m\0001G\0"sv));
  EXPECT_TRUE(is_qemu("kvm\0"sv));
  EXPECT_TRUE(is_qemu("/usr/libexec/qemu-kvm\0"sv));
  EXPECT_FALSE(is_qemu("/usr/bin/qemu-img\0convert\0"sv));
  EXPECT_FALSE(is_qemu("vim\0/usr/bin/qemu-system-x86_64\0"sv));
  EXPECT_FALSE(is_qemu(""sv));  // a thread of the kernel
}

TEST(CommandLineTest, OneDashAndTwoAreTheSame) {
  const CommandLine line = parse_command_line("qemu-system-x86_64\0--smp\0004\0-m\0001G\0"sv);
  EXPECT_EQ(line.merged("smp", "cpus"), "4");
  EXPECT_EQ(line.merged("m", "size"), "1G");
}

TEST(CommandLineTest, LaterValuesGoBeforeEarlierOnesKeyByKey) {
  const CommandLine line = parse_command_line("kvm\0-smp\0cpus=2,cores=2\0-smp\0cpus=4\0"sv);
  EXPECT_EQ(line.merged("smp", "cpus"), "4");
  EXPECT_EQ(line.merged("smp", "cores"), "2");
}

TEST(CommandLineTest, AFileOfOptionsIsNamedUntilItIsAdded) {
  CommandLine line = parse_command_line("kvm\0-readconfig\0/run/a.conf\0-S\0"sv);
  EXPECT_THAT(line.config_files, ElementsAre("/run/a.conf"));
  add_config_file("[memory]\nsize = \"2G\"\n", "/run/a.conf", line);
  EXPECT_THAT(line.config_files, IsEmpty());
  EXPECT_EQ(line.merged("m", "size"), "2G");
  EXPECT_THAT(line.notes, IsEmpty());
}

TEST(CommandLineTest, AnOptionAtTheEndHasNoValue) {
  const CommandLine line = parse_command_line("kvm\0-smp\0"sv);
  EXPECT_EQ(line.merged("smp", "cpus"), std::nullopt);
}

}  // namespace
}  // namespace vmnuma::balancer::qemu
