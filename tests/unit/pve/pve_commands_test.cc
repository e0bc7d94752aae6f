// SPDX-License-Identifier: Apache-2.0
/// `vmnuma pve` on a root directory of Proxmox VE's, with a qm(1) that keeps what it is told.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/views.h"
#include "tests/unit/doctor/fake_root.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kScript = "var/lib/vz/snippets/vmnuma";

class PveCommandsTest : public testing::Test {
 protected:
  PveCommandsTest() {
    root_.write("usr/share/vmnuma/pve-hookscript", "#!/bin/sh\n# ours\n", /*executable=*/true);
    configure(100, "name: mail\n");
    configure(101, "name: db\nhookscript: local:snippets/other.pl\naffinity: 0-3\n");
    // Does what `qm set` does to a configuration.
    root_.write("bin/qm",
                "#!/bin/sh\necho \"qm $*\" >>'" + inside("log") + "'\nfile='" +
                    inside("etc/pve/qemu-server") +
                    "'/$2.conf\ncase $3 in\n--hookscript) echo \"hookscript: $4\" >>\"$file\" ;;\n"
                    "--delete) sed -i '/^hookscript:/d' \"$file\" ;;\nesac\n",
                /*executable=*/true);
    path_ = std::getenv("PATH");
    ::setenv("PATH", (inside("bin") + ":" + path_).c_str(), 1);
  }
  ~PveCommandsTest() override { ::setenv("PATH", path_.c_str(), 1); }

  [[nodiscard]] std::string inside(const std::string& path) const {
    return root_.path() + "/" + path;
  }
  void configure(int vmid, const std::string& text, const std::string& node = "") {
    root_.write(
        (node.empty() ? "etc/pve/qemu-server/" : "etc/pve/nodes/" + node + "/qemu-server/") +
            std::to_string(vmid) + ".conf",
        text);
  }
  [[nodiscard]] std::string text_of(const std::string& path) const {
    std::ifstream file(inside(path));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "pve");
    arguments.insert(arguments.end(), {"--root", root_.path()});
    const auto invocation = parse_arguments(arguments, tests::kNoonUnixS);
    EXPECT_TRUE(invocation) << invocation.error().text;
    out_.str("");
    err_.str("");
    Surroundings surroundings{.out = out_, .err = err_};
    return tools::run(*invocation, surroundings);
  }

  tests::FakeRoot root_;
  std::string path_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(PveCommandsTest, InstallPutsTheScriptInPlaceAndSaysHowVmsGetIt) {
  EXPECT_EQ(run({"install"}), kExitOk) << err_.str();
  EXPECT_EQ(text_of(kScript), "#!/bin/sh\n# ours\n");
  EXPECT_EQ(std::filesystem::status(inside(kScript)).permissions(),
            static_cast<std::filesystem::perms>(0755));
  EXPECT_THAT(out_.str(),
              HasSubstr("    qm set 100 --hookscript local:snippets/vmnuma   # mail\n"));
  EXPECT_THAT(out_.str(), AllOf(Not(HasSubstr("qm set 101")), HasSubstr("another hookscript")));
  EXPECT_EQ(text_of("log"), "") << "no VM is changed that was not named";
}

TEST_F(PveCommandsTest, NothingIsShownThatATerminalOrAShellWouldObey) {
  configure(100, "name: mail\xc2\x9b\n");
  configure(101, "name: db\xe2\x80\xae\nhookscript: local:snippets/\x1b[2J\n");
  EXPECT_EQ(run({"install", "--storage", "a b"}), kExitOk) << err_.str();
  EXPECT_THAT(
      out_.str(),
      AllOf(HasSubstr("    qm set 100 --hookscript 'a b:snippets/vmnuma'   # mail\\u009b\n"),
            HasSubstr("VM 101 (db\\u202e) has another hookscript, local:snippets/\\x1b[2J,")));
  EXPECT_EQ(run({"install", "--for", "100"}), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("VM 100 (mail\\u009b) has it"));
  configure(102, "name: there\x1b\nhookscript: local:snippets/vmnuma\n", "b");
  EXPECT_EQ(run({"remove"}), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("hookscript   # there\\x1b"));
}

TEST_F(PveCommandsTest, InstallMayBeRepeatedAndReplacesAnOlderScript) {
  root_.write(kScript, "#!/bin/sh\n# older\n");
  EXPECT_EQ(run({"install"}), kExitOk);
  EXPECT_EQ(run({"install"}), kExitOk);
  EXPECT_EQ(text_of(kScript), "#!/bin/sh\n# ours\n");
}

TEST_F(PveCommandsTest, InstallGivesItToVmsThatAreNamed) {
  EXPECT_EQ(run({"install", "--for", "100"}), kExitOk) << err_.str();
  EXPECT_EQ(text_of("log"), "qm set 100 --hookscript local:snippets/vmnuma\n");
  EXPECT_THAT(out_.str(), HasSubstr("VM 100 (mail) has it from its next start on"));
}

TEST_F(PveCommandsTest, InstallIntoAnotherStorage) {
  EXPECT_EQ(run({"install", "--for", "100", "--storage", "nfs", "--snippets", "/mnt/nfs/snippets"}),
            kExitOk);
  EXPECT_EQ(text_of("log"), "qm set 100 --hookscript nfs:snippets/vmnuma\n");
  EXPECT_NE(text_of("mnt/nfs/snippets/vmnuma"), "");
}

TEST_F(PveCommandsTest, AnotherHookscriptIsNotReplacedAndNothingIsChangedThen) {
  EXPECT_EQ(run({"install", "--for", "100", "--for", "101"}), kExitRefused);
  EXPECT_THAT(err_.str(), HasSubstr("VM 101 has another hookscript, 'local:snippets/other.pl'"));
  EXPECT_EQ(text_of("log"), "");
  EXPECT_EQ(text_of(kScript), "");
}

TEST_F(PveCommandsTest, AVmThatIsNotHereIsRefused) {
  configure(102, "name: there\n", "b");
  for (const char* vmid : {"102", "7", "mail", "0100", ""}) {
    EXPECT_EQ(run({"install", "--for", vmid}), kExitRefused) << vmid;
  }
  EXPECT_EQ(text_of("log"), "");
}

TEST_F(PveCommandsTest, AQmThatFailsIsSaid) {
  root_.write("bin/qm", "#!/bin/sh\necho 'no quorum' >&2; exit 2\n", /*executable=*/true);
  EXPECT_EQ(run({"install", "--for", "100"}), kExitRefused);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("qm set 100"), HasSubstr("no quorum")));
}

TEST_F(PveCommandsTest, RemoveTakesAwayWhatNoVmNames) {
  EXPECT_EQ(run({"install"}), kExitOk);
  EXPECT_EQ(run({"remove"}), kExitOk) << err_.str();
  EXPECT_FALSE(std::filesystem::exists(inside(kScript)));
  EXPECT_EQ(run({"remove"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("was not there"));
}

TEST_F(PveCommandsTest, TheScriptStaysWhileAVmOfTheClusterNamesIt) {
  EXPECT_EQ(run({"install", "--for", "100"}), kExitOk);
  configure(102, "name: there\nhookscript: local:snippets/vmnuma\n", "b");
  EXPECT_EQ(run({"remove"}), kExitRefused);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("qm set 100 --delete hookscript"),
                                HasSubstr("on node b: qm set 102 --delete hookscript")));
  EXPECT_TRUE(std::filesystem::exists(inside(kScript)));

  EXPECT_EQ(run({"remove", "--for", "100"}), kExitRefused);
  EXPECT_THAT(text_of("log"), HasSubstr("qm set 100 --delete hookscript\n"));
  EXPECT_THAT(err_.str(), Not(HasSubstr("qm set 100")));
  EXPECT_TRUE(std::filesystem::exists(inside(kScript)));
}

TEST_F(PveCommandsTest, RemoveTakesItFromVmsThatAreNamedAndFromNoOthers) {
  EXPECT_EQ(run({"install", "--for", "100"}), kExitOk);
  EXPECT_EQ(run({"remove", "--for", "100", "--for", "101"}), kExitOk) << err_.str();
  EXPECT_THAT(text_of("log"), Not(HasSubstr("qm set 101")));
  EXPECT_THAT(text_of("etc/pve/qemu-server/101.conf"), HasSubstr("other.pl"));
  EXPECT_FALSE(std::filesystem::exists(inside(kScript)));
}

TEST_F(PveCommandsTest, StatusShowsTheScriptAndTheVmsOfThisNode) {
  configure(102, "name: there\n", "b");
  EXPECT_EQ(run({"status"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("hookscript /var/lib/vz/snippets/vmnuma: not there\n"));
  EXPECT_THAT(out_.str(), HasSubstr("101  db    local:snippets/other.pl  0-3\n"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("there\n102")));
  EXPECT_EQ(run({"install"}), kExitOk);
  EXPECT_EQ(run({"status", "--json"}), kExitOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(R"("state":"in place")"), HasSubstr(R"("vmid":100)"),
                                Not(HasSubstr(R"("vmid":102)"))));
}

TEST_F(PveCommandsTest, ElsewhereThanOnProxmoxVeNothingIsDone) {
  std::filesystem::remove_all(inside("etc/pve"));
  for (const char* command : {"install", "remove", "status"}) {
    EXPECT_EQ(run({command}), kExitRefused) << command;
    EXPECT_THAT(err_.str(), HasSubstr("this is not a node of Proxmox VE"));
  }
  EXPECT_FALSE(std::filesystem::exists(inside("var/lib/vz")));
}

}  // namespace
}  // namespace vmnuma::tools
