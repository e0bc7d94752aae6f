// SPDX-License-Identifier: Apache-2.0
/// Every command line in tests/fixtures/qemu_command_line against a text of what was understood of
/// it. VMNUMA_UPDATE_GOLDEN=1 rewrites the texts; read the difference before committing it.
#include <filesystem>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "balancer/qemu/command_line.h"
#include "balancer/qemu/described_vm.h"
#include "placement/model/text.h"
#include "tests/support/description_text.h"
#include "tests/support/golden.h"

namespace vmnuma::balancer::qemu {
namespace {

const std::filesystem::path kFixtures =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/qemu_command_line";
const std::filesystem::path kGoldens =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/golden/qemu_command_line";

/// As /proc/PID/cmdline has it.
std::string cmdline_of(const std::string& name) {
  std::istringstream lines(tests::file_text(kFixtures / (name + ".args")));
  std::string cmdline;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    cmdline += line.substr(0, blank) + '\0';
    if (blank != std::string::npos) {
      cmdline += line.substr(blank + 1) + '\0';
    }
  }
  return cmdline;
}

std::string understood(const std::string& name) {
  const std::string cmdline = cmdline_of(name);
  EXPECT_TRUE(is_qemu(cmdline));
  CommandLine line = parse_command_line(cmdline);
  if (const std::string config = tests::file_text(kFixtures / (name + ".conf")); !config.empty()) {
    EXPECT_EQ(line.config_files.size(), 1U);
    const std::string path = line.config_files.front();
    add_config_file(config, path, line);
  }
  const DescribedVm vm = describe(line, {{{"/dev/hugepages", kMiB * 2},
                                          {"/run/hugepages/kvm/2048kB", kMiB * 2},
                                          {"/run/hugepages/kvm/1048576kB", kGiB}},
                                         kMiB * 2});
  std::string text = "uuid              " + (vm.uuid ? to_text(*vm.uuid) : "-") + '\n';
  if (vm.is_of_libvirt) {
    text += "of libvirt\n";
  }
  text += tests::description_text(vm.description);
  for (const std::string& thread : vm.io_thread_names) {
    text += "io thread         " + thread + '\n';
  }
  for (const GuestCell& cell : vm.description.cells) {
    if (cell.page_size) {
      text += "pages of cell " + std::to_string(cell.id) + "   " +
              std::to_string(cell.page_size->value / kKiB.value) + " KiB\n";
    }
  }
  for (const std::string& note : vm.notes) {
    text += "note              " + note + '\n';
  }
  return text;
}

class QemuCommandLineGolden : public testing::TestWithParam<std::string> {};

TEST_P(QemuCommandLineGolden, IsUnderstoodAsWritten) {
  const std::string text = understood(GetParam());
  EXPECT_EQ(text, tests::golden(kGoldens / (GetParam() + ".txt"), text));
}

INSTANTIATE_TEST_SUITE_P(Programs, QemuCommandLineGolden,
                         testing::ValuesIn(tests::fixture_names(kFixtures, ".args")),
                         tests::fixture_case);

}  // namespace
}  // namespace vmnuma::balancer::qemu
