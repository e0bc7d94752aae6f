// SPDX-License-Identifier: Apache-2.0
/// numad, vmnuma-hook and the hook scripts as libvirt and Proxmox VE meet them: exit status,
/// output, and an end before long, whatever the daemon does. Time limits are the programs' own; the
/// bounds here only tell a program that ends from one that hangs.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tests {
namespace {

using balancer::Answer;
using balancer::Command;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Lt;
using testing::MatchesRegex;

constexpr std::chrono::seconds kBeforeLong{20};
constexpr int kAttempts = 20;

constexpr const char* kXml =
    "<domain type='kvm'><name>web1</name><uuid>c7a5fdbd-edaf-9455-926a-d65c16db1809</uuid>"
    "<memory>65536</memory><vcpu placement='auto' cpuset='16383'>2</vcpu></domain>";
constexpr const char* kFittedXml =
    "<domain type='kvm'><name>web1</name><uuid>c7a5fdbd-edaf-9455-926a-d65c16db1809</uuid>"
    "<memory>65536</memory><vcpu placement='auto'>2</vcpu></domain>";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

class StartProgramsTest : public testing::Test {
 protected:
  StartProgramsTest() { std::ofstream(path("vm.xml")) << kXml; }

  [[nodiscard]] std::string path(const std::string& name) const {
    return directory_.path() + "/" + name;
  }

  Outcome run(const std::string& command) const {
    const auto began = steady_clock::now();
    // The command line is the test's own.
    const int status = std::system(  // NOLINT(cert-env33-c)
        fmt::format("({}) >{} 2>{}", command, path("out"), path("err")).c_str());
    EXPECT_THAT(steady_clock::now() - began, Lt(kBeforeLong)) << command;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(path("out")),
            read_file(path("err"))};
  }

  Outcome numad(const std::string& socket) const {
    return run(fmt::format("{} --socket {} -w 1:64 </dev/null", VMNUMA_NUMAD, socket));
  }
  Outcome hook(const std::string& socket, const std::string& operation) const {
    return run(fmt::format("{} --socket {} -- web1 {} begin - <{}", VMNUMA_HOOK, socket, operation,
                           path("vm.xml")));
  }

  /// Both programs come to a good end without this daemon's help.
  void expect_both_go_on(const std::string& socket) const {
    const Outcome advice = numad(socket);
    EXPECT_EQ(advice.status, 0) << advice.err;
    EXPECT_THAT(advice.out, MatchesRegex("[0-9][0-9,-]*\n"));
    for (const char* operation :
         {"prepare", "start", "started", "stopped", "release", "reconnect", "attach"}) {
      const Outcome hooked = hook(socket, operation);
      EXPECT_EQ(hooked.status, 0) << operation << hooked.err;
      EXPECT_EQ(hooked.out, "") << operation;
    }
    for (const char* operation : {"migrate", "restore"}) {
      const Outcome hooked = hook(socket, operation);
      EXPECT_EQ(hooked.status, 0) << operation << hooked.err;
      EXPECT_EQ(hooked.out, kFittedXml) << operation;
    }
  }

  TempDirectory directory_;
};

TEST_F(StartProgramsTest, TheDaemonsAnswerIsPrinted) {
  // Node 0 is there on every machine. A numad that chooses for itself says so.
  const FakeDaemon daemon(FakeDaemon::answering([](const Command&) -> Result<Answer> {
    return Answer(balancer::SuggestView{"web1", "", {{0}}});
  }));
  Outcome advice{.status = -1, .out = "", .err = "not asked"};
  // On a busy machine numad may give up waiting.
  for (int attempt = 0; attempt < kAttempts && !advice.err.empty(); ++attempt) {
    advice = numad(daemon.socket_path());
  }
  EXPECT_EQ(advice.status, 0);
  EXPECT_EQ(advice.out, "0\n");
  EXPECT_EQ(advice.err, "");
}

TEST_F(StartProgramsTest, ANodeThatIsNotThereIsNoAnswer) {
  const FakeDaemon daemon(FakeDaemon::answering([](const Command&) -> Result<Answer> {
    return Answer(balancer::SuggestView{"web1", "", {{1023}}});
  }));
  Outcome advice{.status = -1, .out = "", .err = ""};
  for (int attempt = 0; attempt < kAttempts && advice.err.find("1023") == std::string::npos;
       ++attempt) {
    advice = numad(daemon.socket_path());
  }
  EXPECT_EQ(advice.status, 0);
  EXPECT_NE(advice.out, "1023\n");
  EXPECT_THAT(advice.err, testing::HasSubstr("node 1023, which is not online here"));
}

TEST_F(StartProgramsTest, GoOnWithoutADaemon) {
  expect_both_go_on(path("nobody"));
}

TEST_F(StartProgramsTest, GoOnWithoutAnAnswer) {
  const FakeDaemon daemon([](const std::string&) { return std::nullopt; });
  expect_both_go_on(daemon.socket_path());
}

TEST_F(StartProgramsTest, GoOnIfTheDaemonHangsUp) {
  const FakeDaemon daemon([](const std::string&) { return ""; });
  expect_both_go_on(daemon.socket_path());
}

TEST_F(StartProgramsTest, GoOnWithGarbage) {
  const FakeDaemon daemon([](const std::string&) { return "\xff{]\n"; });
  expect_both_go_on(daemon.socket_path());
}

TEST_F(StartProgramsTest, GoOnWithAnAnswerThatNeverEnds) {
  const FakeDaemon daemon(
      [](const std::string&) { return std::string(std::size_t{32} << 20U, 'x'); });
  expect_both_go_on(daemon.socket_path());
}

TEST_F(StartProgramsTest, TheHookEndsEvenIfItsInputDoesNot) {
  const Outcome hooked = run(fmt::format(
      "mkfifo {0} && exec 3<>{0} && {1} -- web1 migrate begin - <&3", path("fifo"), VMNUMA_HOOK));
  EXPECT_EQ(hooked.status, 0);
  EXPECT_EQ(hooked.out, "");
  EXPECT_THAT(hooked.err, HasSubstr("did not end in time"));
}

TEST_F(StartProgramsTest, TheHookLivesThroughTheSignalOfItsScriptWhileAStartWaits) {
  std::atomic<int> asked = 0;
  const FakeDaemon daemon(FakeDaemon::answering([&](const Command&) -> Result<Answer> {
    ++asked;
    if (asked == 1) {
      return Answer(balancer::AnnouncedView{"it waits", 50, 60'000});
    }
    if (asked == 2) {
      pid_t hook = 0;
      std::ifstream(path("pid")) >> hook;
      EXPECT_EQ(::kill(hook, SIGUSR1), 0);
      return Answer(balancer::AnnouncedView{"it waits", 50, 60'000});
    }
    return failure(ErrorCode::kNoSpace, "no room");
  }));
  Outcome hooked;
  // On a busy machine it may give up waiting for the first answer.
  for (int attempt = 0; attempt < kAttempts && hooked.status != 10; ++attempt) {
    asked = 0;
    hooked = run(fmt::format("sh -c 'echo $$ >{}; exec {} --socket {} -- web1 prepare begin -' <{}",
                             path("pid"), VMNUMA_HOOK, daemon.socket_path(), path("vm.xml")));
  }
  EXPECT_EQ(hooked.status, 10);
  EXPECT_EQ(asked, 3);
}

TEST_F(StartProgramsTest, NumadRefusesWhatItIsNot) {
  const Outcome service = run(fmt::format("{} -i 15", VMNUMA_NUMAD));
  EXPECT_EQ(service.status, 2);
  EXPECT_EQ(service.out, "");
  EXPECT_THAT(service.err, HasSubstr("only answers libvirt's"));
}

/// One of the scripts, and how it is called.
struct Script {
  const char* name;
  const char* path;
  const char* arguments;  ///< {} is the operation
  const char* refusable;  ///< the only operation that may fail
  std::vector<const char*> others;
  const char* passed;  ///< what the helper is given at `refusable`
};

class HookScriptTest : public StartProgramsTest, public testing::WithParamInterface<Script> {
 protected:
  /// Runs the script with a helper of this text, or without one.
  Outcome script(const std::string& helper, const std::string& operation = GetParam().refusable) {
    std::filesystem::create_directory(path("bin"));
    if (!helper.empty()) {
      std::ofstream(path("bin/vmnuma-hook")) << "#!/bin/sh\n" << helper << "\n";
      std::filesystem::permissions(path("bin/vmnuma-hook"), std::filesystem::perms::owner_all);
    }
    return run(fmt::format("PATH={}:/usr/bin:/bin {} {} <{}", path("bin"), GetParam().path,
                           fmt::format(fmt::runtime(GetParam().arguments), operation),
                           path("vm.xml")));
  }
};

TEST_P(HookScriptTest, PassesEverythingOn) {
  const Outcome hooked = script("echo \"$@\"; cat");
  EXPECT_EQ(hooked.status, 0);
  EXPECT_EQ(hooked.out, std::string(GetParam().passed) + kXml);
}

TEST_P(HookScriptTest, SucceedsIfTheHelperFails) {
  EXPECT_EQ(script("exit 3").status, 0);
  EXPECT_EQ(script("kill -SEGV $$").status, 0);
}

TEST_P(HookScriptTest, PassesOnlyARefusalOn) {
  const Outcome refused = script("echo 'no room' >&2; exit 10");
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.err, "no room\n");
  for (const char* operation : GetParam().others) {
    EXPECT_EQ(script("exit 10", operation).status, 0) << operation;
  }
}

TEST_P(HookScriptTest, SucceedsWithoutAHelper) {
  const Outcome hooked = script("");
  EXPECT_EQ(hooked.status, 0);
  EXPECT_EQ(hooked.out, "");
}

TEST_P(HookScriptTest, AHelperThatWaitsForRoomIsToldThatItTakesLongAndItsRefusalIsPassedOn) {
  EXPECT_EQ(
      script("late=; trap 'late=1' USR1; while [ -z \"$late\" ]; do sleep 0.05; done; exit 10")
          .status,
      1);
}

TEST_P(HookScriptTest, EndsAHelperThatHangs) {
  EXPECT_EQ(script("trap '' TERM; exec sleep 1000").status, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, HookScriptTest,
                         testing::Values(Script{"Libvirt",
                                                VMNUMA_HOOK_SCRIPT,
                                                "'web 1' {} begin -",
                                                "prepare",
                                                {"start", "started", "stopped", "release",
                                                 "reconnect", "migrate"},
                                                "-- web 1 prepare begin -\n"},
                                         Script{"ProxmoxVe",
                                                VMNUMA_PVE_HOOKSCRIPT,
                                                "101 {}",
                                                "pre-start",
                                                {"post-start", "pre-stop", "post-stop", "prepare"},
                                                "--pve -- 101 pre-start\n"}),
                         [](const auto& script) { return script.param.name; });

/// libvirt's script with the program that it runs on a host.
class ScriptWithProgramTest : public StartProgramsTest {
 protected:
  Outcome script(const std::string& socket, const std::string& operation) const {
    std::filesystem::create_directory(path("bin"));
    std::ofstream(path("bin/vmnuma-hook"))
        << fmt::format("#!/bin/sh\nexec {} --socket {} \"$@\"\n", VMNUMA_HOOK, socket);
    std::filesystem::permissions(path("bin/vmnuma-hook"), std::filesystem::perms::owner_all);
    return run(fmt::format("PATH={}:/usr/bin:/bin {} web1 {} begin - <{}", path("bin"),
                           VMNUMA_HOOK_SCRIPT, operation, path("vm.xml")));
  }
  /// The same until the daemon was heard, which on a busy machine may not be in time.
  Outcome script_until_refused(const std::string& socket) const {
    Outcome hooked;
    for (int attempt = 0; attempt < kAttempts && hooked.status != 1; ++attempt) {
      hooked = script(socket, "prepare");
    }
    return hooked;
  }
};

TEST_F(ScriptWithProgramTest, ARefusalOfTheDaemonKeepsTheVmFromStarting) {
  const FakeDaemon daemon(FakeDaemon::answering([](const Command&) -> Result<Answer> {
    return failure(ErrorCode::kNoSpace, "no node has room");
  }));
  const Outcome hooked = script_until_refused(daemon.socket_path());
  EXPECT_EQ(hooked.status, 1);
  EXPECT_THAT(hooked.err, HasSubstr("VM 'web1' may not start: no node has room"));
  for (const char* operation : {"start", "started", "stopped", "release", "reconnect"}) {
    EXPECT_EQ(script(daemon.socket_path(), operation).status, 0) << operation;
  }
}

TEST_F(ScriptWithProgramTest, AStartMayWaitForRoomLongerThanTheScriptsOwnLimit) {
  constexpr int kPauses = 15;  // of 100 ms at least, in which the script sends its signal
  std::atomic<int> asked = 0;
  const FakeDaemon daemon(FakeDaemon::answering([&](const Command&) -> Result<Answer> {
    if (++asked <= kPauses) {
      return Answer(balancer::AnnouncedView{"it waits", 100, 60'000});
    }
    return failure(ErrorCode::kNoSpace, "no room was made");
  }));
  Outcome hooked;
  for (int attempt = 0; attempt < kAttempts && hooked.status != 1; ++attempt) {
    asked = 0;
    hooked = script(daemon.socket_path(), "prepare");
  }
  EXPECT_EQ(hooked.status, 1);
  EXPECT_THAT(hooked.err, HasSubstr("no room was made"));
}

TEST_F(ScriptWithProgramTest, StartsAndFitsVmsWhateverTheDaemonDoes) {
  const FakeDaemon silent([](const std::string&) { return std::nullopt; });
  for (const std::string& socket : {path("nobody"), silent.socket_path()}) {
    for (const char* operation : {"prepare", "start", "release", "reconnect"}) {
      const Outcome hooked = script(socket, operation);
      EXPECT_EQ(hooked.status, 0) << operation << hooked.err;
      EXPECT_EQ(hooked.out, "") << operation;
    }
    for (const char* operation : {"migrate", "restore"}) {
      const Outcome hooked = script(socket, operation);
      EXPECT_EQ(hooked.status, 0) << operation << hooked.err;
      EXPECT_EQ(hooked.out, kFittedXml) << operation;
    }
  }
}

TEST_F(StartProgramsTest, ProxmoxVeStartsAVmWhoseConfigurationIsNotThere) {
  for (const char* phase : {"pre-start", "post-start", "pre-stop", "post-stop"}) {
    const Outcome hooked = run(fmt::format("{} --socket {} --pve -- 1000000001 {} </dev/null",
                                           VMNUMA_HOOK, path("nobody"), phase));
    EXPECT_EQ(hooked.status, 0) << phase << hooked.err;
    EXPECT_EQ(hooked.out, "");
  }
}

}  // namespace
}  // namespace vmnuma::tests
