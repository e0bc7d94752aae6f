// SPDX-License-Identifier: Apache-2.0
// `vmnuma advise` for a VM that takes devices from pools: on a host that is files, with a virsh
// that is a script.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/doctor/fake_root.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A VM of that name; `device` is the bus of the GPU that it has, or nothing.
std::string definition_of(const std::string& name, int number, const std::string& bus) {
  std::string text = "<domain type='kvm'>\n  <name>" + name +
                     "</name>\n  <uuid>3f2504e0-4f89-41d3-9a0c-0305e82c330" +
                     std::to_string(number) +
                     "</uuid>\n  <memory unit='KiB'>131072</memory>\n  <vcpu>1</vcpu>\n  <os>\n"
                     "    <type arch='x86_64'>hvm</type>\n  </os>\n  <devices>\n";
  if (!bus.empty()) {
    text +=
        "    <hostdev mode='subsystem' type='pci' managed='no'>\n      <source>\n        <address "
        "domain='0x0000' bus='0x" +
        bus +
        "' slot='0x00' function='0x0'/>\n      </source>\n      <rom bar='off'/>\n    </hostdev>\n";
  }
  return text + "  </devices>\n</domain>\n";
}

class DevicePoolsTest : public testing::Test {
 protected:
  void SetUp() override {
    tests::make_well(root_);
    root_.write("etc/vmnuma/vmnuma.toml",
                "device_pool = \"gpu=0000:0b:00.0,0000:8b:00.0,0000:ff:00.0\"\n"
                "[vm.web1]\ndevice_pool = \"gpu\"\n");
    root_.write("sys/bus/pci/devices/0000:0b:00.0/numa_node", "0\n");
    root_.write("sys/bus/pci/devices/0000:8b:00.0/numa_node", "1\n");
    root_.write("bin/virsh",
                "#!/bin/sh\ncd '" + root_.path() +
                    "' || exit 1\ncase \"$*\" in\n*--uuid*) echo some ;;\n"
                    "*\"; dumpxml\"*) cat others.xml ;;\n*dumpxml*) cat vm.xml ;;\n"
                    "*define*) cat >vm.xml ;;\nesac\n",
                /*executable=*/true);
    root_.write("vm.xml", definition_of("web1", 1, ""));
    root_.write("others.xml", "\n");
    path_ = std::getenv("PATH");
    ::setenv("PATH", (root_.path() + "/bin:" + path_).c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  int advise(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"advise", "web1", "--root", root_.path(), "--definitions",
                                         root_.path() + "/definitions"});
    const auto invocation = parse_arguments(arguments, /*now_unix_s=*/0);
    EXPECT_TRUE(invocation.has_value()) << invocation.error().text;
    out_.str("");
    err_.str("");
    Surroundings surroundings{.out = out_, .err = err_};
    return tools::run(*invocation, surroundings);
  }
  [[nodiscard]] std::string definition() const {
    std::ifstream file(root_.path() + "/vm.xml");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  tests::FakeRoot root_;
  std::string path_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(DevicePoolsTest, AVmIsGivenAFreeDeviceOfThePoolAndKeepsIt) {
  root_.write("others.xml", definition_of("other", 2, "0b"));
  ASSERT_EQ(advise({"--apply", "--yes"}), kExitOk) << err_.str();
  EXPECT_THAT(
      definition(),
      HasSubstr("    <hostdev mode='subsystem' type='pci' managed='yes'>\n      <source>\n"
                "        <address domain='0x0000' bus='0x8b' slot='0x00' function='0x0'/>"));
  ASSERT_EQ(advise({}), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("web1: its definition is as advised"));
  EXPECT_THAT(out_.str(), HasSubstr("devices: 0000:8b:00.0 of the pool 'gpu'"));
}

TEST_F(DevicePoolsTest, ACloneIsGivenAnotherDeviceInThePlaceOfItsModels) {
  root_.write("vm.xml", definition_of("web1", 1, "8b"));
  root_.write("others.xml",
              definition_of("web1", 1, "8b") + "\n" + definition_of("model", 2, "8b"));
  ASSERT_EQ(advise({"--json"}), kExitOk) << err_.str();
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["devices"][0]["address"], "0000:0b:00.0");
  EXPECT_EQ(json["devices"][0]["instead_of"], "0000:8b:00.0");
  const std::string xml = json["xml"].get<std::string>();
  EXPECT_THAT(xml, HasSubstr("bus='0x0b'"));
  EXPECT_THAT(xml, HasSubstr("<rom bar='off'/>"));
  EXPECT_THAT(xml, Not(HasSubstr("bus='0x8b'")));
}

TEST_F(DevicePoolsTest, WhereNoDeviceIsFreeNothingIsAdvised) {
  root_.write("others.xml", definition_of("a", 2, "0b") + "\n" + definition_of("b", 3, "8b"));
  EXPECT_EQ(advise({}), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("no device of the pool 'gpu' is free: 'a' has 0000:0b:00.0, "
                                    "'b' has 0000:8b:00.0"));
}

TEST_F(DevicePoolsTest, NothingIsAdvisedWhileItIsNotKnownWhichVmHasWhich) {
  root_.write("others.xml", definition_of("a", 2, "zz"));
  EXPECT_EQ(advise({}), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("the devices of 'a' are not known"));
}

TEST_F(DevicePoolsTest, OtherFormatsNameTheDevice) {
  ASSERT_EQ(advise({"--format", "virt-install"}), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("--hostdev 0000:0b:00.0"));
  ASSERT_EQ(advise({"--format", "pve"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("hostpci0: 0000:0b:00.0\n"));
}

}  // namespace
}  // namespace vmnuma::tools
