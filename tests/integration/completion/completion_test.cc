// SPDX-License-Identifier: Apache-2.0
/// The completions as bash, zsh and fish meet them: what is offered for a word, and that zsh reads
/// its own.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/reports/tables.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/temp_directory.h"
#include "tools/describe/completions.h"
#include "tools/describe/program_completion.h"

namespace vmnuma::tests {
namespace {

using balancer::Answer;
using balancer::Command;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;
using tools::CommandInfo;

using Words = std::vector<std::string>;

class CompletionTest : public testing::Test {
 protected:
  /// What bash offers for the last of the words.
  [[nodiscard]] Words offered(Words words) const {
    words.insert(words.begin(), VMNUMA_PROGRAM);
    for (std::string& word : words) {
      word = "'" + word + "'";
    }
    const std::string script = directory_.path() + "/script";
    std::ofstream(script) << fmt::format(
        ". {}/bash/vmnuma\nCOMP_WORDS=({})\nCOMP_CWORD={}\n_vmnuma\n"
        "((${{#COMPREPLY[@]}} == 0)) || printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        VMNUMA_COMPLETIONS, fmt::join(words, " "), words.size() - 1);
    return output_of("bash -u " + script);
  }

  /// What bash offers for the last of the words behind another program's name.
  [[nodiscard]] Words offered_by(const std::string& program, const Words& words) const {
    std::string function = "_" + program;
    std::replace(function.begin(), function.end(), '-', '_');
    const std::string script = directory_.path() + "/script";
    std::ofstream(script) << fmt::format(
        "PATH={}:$PATH\n. {}/bash/{}\nCOMP_WORDS=({} '{}')\nCOMP_CWORD={}\n{}\n"
        "((${{#COMPREPLY[@]}} == 0)) || printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        program_directory(), VMNUMA_COMPLETIONS, program, program, fmt::join(words, "' '"),
        words.size(), function);
    return output_of("bash -u " + script);
  }

  /// The lines that a command prints.
  [[nodiscard]] Words output_of(const std::string& command) const {
    const std::string out = directory_.path() + "/out";
    // The command line is the test's own.
    const int status = std::system(  // NOLINT(cert-env33-c)
        fmt::format("{} >{} 2>&1", command, out).c_str());
    EXPECT_EQ(status, 0) << command;
    std::ifstream file(out);
    Words lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(line);
    }
    return lines;
  }

  /// What fish offers for the last word of the line behind the program; nothing without fish.
  [[nodiscard]] Words fish_offers(const std::string& line,
                                  const std::string& program = "vmnuma") const {
    if (!has_fish()) {
      return {};
    }
    const std::string script = directory_.path() + "/script";
    std::ofstream(script) << fmt::format(
        "set -x PATH {} $PATH\nsource {}/fish/{}.fish\ncomplete -C '{} {}' | string "
        "replace -r '\\t.*' ''\n"
        "true # `string replace` is 1 where there was nothing to replace\n",
        program_directory(), VMNUMA_COMPLETIONS, program, program, line);
    return output_of("HOME=" + directory_.path() + " fish --no-config " + script);
  }

  [[nodiscard]] static bool has_fish() {
    return std::system("command -v fish >/dev/null") == 0;  // NOLINT(cert-env33-c)
  }

  [[nodiscard]] static std::string program_directory() {
    return std::filesystem::path(VMNUMA_PROGRAM).parent_path().string();
  }

  TempDirectory directory_;
};

using Visit = std::function<void(const Words& path, const CommandInfo& command)>;

void each_command(const CommandInfo& command, const Visit& visit, const Words& path = {}) {
  visit(path, command);
  for (const CommandInfo& below : command.commands) {
    Words longer = path;
    longer.push_back(below.name);
    each_command(below, visit, longer);
  }
}

Words with(Words words, const std::string& last) {
  words.push_back(last);
  return words;
}

TEST_F(CompletionTest, EveryCommandAndOptionOfTheTableIsOfferedAndNothingElse) {
  each_command(tools::command_table(), [&](const Words& path, const CommandInfo& command) {
    Words options;
    for (const auto& option : command.options) {
      std::copy_if(option.names.begin(), option.names.end(), std::back_inserter(options),
                   [](const std::string& name) { return name.starts_with("--"); });
    }
    if (!path.empty()) {
      options.insert(options.end(), {"--socket", "--sim", "--json"});
    }
    EXPECT_THAT(offered(with(path, "--")), UnorderedElementsAreArray(options))
        << fmt::format("{}", fmt::join(path, " "));
    if (!command.commands.empty()) {
      Words names = path.empty() ? Words{"help", "version"} : Words{};
      for (const CommandInfo& below : command.commands) {
        names.push_back(below.name);
      }
      EXPECT_THAT(offered(with(path, "")), UnorderedElementsAreArray(names));
    }
  });
}

TEST_F(CompletionTest, AWordThatIsBegunIsFinished) {
  EXPECT_THAT(offered({"expl"}), ElementsAre("explain"));
  EXPECT_THAT(offered({"--json", "options", "s"}), ElementsAre("set"));
  EXPECT_THAT(offered({"stats", "-t", "numa-p"}), ElementsAre("numa-pnode"));
  EXPECT_THAT(offered({"sim", "run", "pile"}), ElementsAre("pile-up"));
  EXPECT_THAT(offered({"sim", "compare", "swap-only", "pile"}), ElementsAre("pile-up"));
  EXPECT_THAT(offered({"nonsense", "x"}), IsEmpty());
  EXPECT_THAT(offered({"list", "-o", "w"}), ElementsAre("wide"));
  EXPECT_THAT(offered({"set", "web1", "do_"}), ElementsAre("do_not_move="));
  EXPECT_THAT(offered({"export", "--format", ""}), ElementsAre("nrt", "openstack", "host"));
  EXPECT_THAT(offered({"hel"}), ElementsAre("help"));
  EXPECT_THAT(offered({"help", "sim", "sta"}), ElementsAre("start"));
  EXPECT_THAT(offered({"vers"}), ElementsAre("version"));
}

TEST_F(CompletionTest, OptionsOfTheOtherProgramsAreThoseOfTheirHelp) {
  for (const std::string program :
       {"vmnumad", "numad", "vmnuma-hook", "vmnuma-exporter", "vmnuma-wakeups", "sched-stats"}) {
    Words options;
    std::ifstream help(fmt::format("{}/{}.help", VMNUMA_COMPLETIONS, program));
    for (const tools::OptionInfo& option : tools::options_of_help(
             std::string(std::istreambuf_iterator<char>(help), std::istreambuf_iterator<char>()))) {
      options.insert(options.end(), option.names.begin(), option.names.end());
    }
    ASSERT_THAT(options, Contains("-h")) << program;
    EXPECT_THAT(offered_by(program, {"-"}), UnorderedElementsAreArray(options)) << program;
  }
}

TEST_F(CompletionTest, ValuesOfTheOtherProgramsAreFilesOrWordsThatAreKnown) {
  const std::string path = directory_.path() + "/recording";
  std::ofstream(path) << "\n";
  EXPECT_THAT(offered_by("vmnumad", {"--simulate", "pile"}), ElementsAre("pile-up"));
  EXPECT_THAT(offered_by("vmnumad", {"--simulate", "--spe"}), ElementsAre("--speed"));
  EXPECT_THAT(offered_by("vmnumad", {"--replay", directory_.path() + "/rec"}), ElementsAre(path));
  EXPECT_THAT(offered_by("vmnumad", {"--speed", ""}), IsEmpty());
  EXPECT_THAT(offered_by("vmnuma-hook", {"--socket", directory_.path() + "/rec"}),
              ElementsAre(path));
  EXPECT_THAT(offered_by("sched-stats", {"-t", "numa-p"}), ElementsAre("numa-pnode"));
}

TEST(OptionsOfHelpTest, BothFormsOfHelpAreRead) {
  const std::vector<tools::OptionInfo> options = tools::options_of_help(
      "Usage: x [-h]\n              [MORE]\n\nOptions:\n"
      "  -h, --help   Print this\n"
      "  -v,--version                Print the version\n"
      "  --dry-run Excludes: --replay\n"
      "                              Change nothing\n"
      "  --listen ADDRESS:PORT|unix:PATH=127.0.0.1:1\n"
      "                              Where to listen\n"
      "  -t TYPE      print this table:\n"
      "                 one\n"
      "                 two\n");
  ASSERT_EQ(options.size(), 5U);
  EXPECT_THAT(options[0].names, ElementsAre("-h", "--help"));
  EXPECT_THAT(options[1].names, ElementsAre("-v", "--version"));
  EXPECT_EQ(options[1].help, "Print the version");
  EXPECT_EQ(options[2].value, "");
  EXPECT_EQ(options[2].help, "Change nothing");
  EXPECT_EQ(options[3].value, "ADDRESS");
  EXPECT_EQ(options[4].value, "one-of:one|two");
  EXPECT_FALSE(tools::program_completion("bash", "x", "no options"));
  EXPECT_FALSE(tools::program_completion("tcsh", "x", "  -h  Help\n"));
}

TEST_F(CompletionTest, FilesAreOfferedWhereAFileIsWanted) {
  const std::string path = directory_.path() + "/recording";
  std::ofstream(path) << "\n";
  EXPECT_THAT(offered({"replay", directory_.path() + "/rec"}), ElementsAre(path));
  EXPECT_THAT(offered({"--socket", directory_.path() + "/rec"}), ElementsAre(path));
}

TEST_F(CompletionTest, VmsAndNodesAreThoseOfTheDaemon) {
  const FakeDaemon daemon(FakeDaemon::answering([](const Command& command) -> Result<Answer> {
    if (std::holds_alternative<balancer::StatsRequest>(command)) {
      const stats::PnodeRow rows[] = {{.node = 0}, {.node = 12}};
      return Answer(stats::pnode_table(rows));
    }
    if (std::holds_alternative<balancer::ReservationsRequest>(command)) {
      balancer::ReservationsView view;
      view.reservations.emplace_back().name = "night";
      return Answer(view);
    }
    balancer::HostView host;
    host.vms_known = true;
    host.vms = {{.vm = "web1", .vm_uuid = {}, .weight = {}, .not_managed = {}, .clients = {}},
                {.vm = "my db", .vm_uuid = {}, .weight = {}, .not_managed = {}, .clients = {}}};
    return Answer(host);
  }));
  const Words at{"--socket", daemon.socket_path()};
  const auto asked = [&](Words words) {
    words.insert(words.begin(), at.begin(), at.end());
    return offered(words);
  };
  EXPECT_THAT(asked({"explain", ""}), ElementsAre("my\\ db", "web1"));
  EXPECT_THAT(asked({"history", "--vm", "w"}), ElementsAre("web1"));
  EXPECT_THAT(asked({"move", "web1", ""}), ElementsAre("0", "12"));
  EXPECT_THAT(asked({"what-if", "--move", ""}), ElementsAre("my\\ db=", "web1="));
  EXPECT_THAT(asked({"unreserve", ""}), ElementsAre("night"));
  EXPECT_THAT(asked({"reserve", ""}), IsEmpty());  // it is new
  EXPECT_THAT(fish_offers(fmt::format("--socket {} move web1 ", daemon.socket_path())),
              AnyOf(IsEmpty(), ElementsAre("0", "12")));
  EXPECT_THAT(fish_offers(fmt::format("--socket {} what-if --move we", daemon.socket_path())),
              AnyOf(IsEmpty(), ElementsAre("web1=")));
}

TEST_F(CompletionTest, OptionsAreOfferedWhereOneIsSupposed) {
  const FakeDaemon daemon(FakeDaemon::answering([](const Command& /*command*/) -> Result<Answer> {
    balancer::OptionsView view;
    view.options.emplace_back().name = "Numa.SwapInterval";
    return Answer(view);
  }));
  EXPECT_THAT(offered({"--socket", daemon.socket_path(), "what-if", "--option", "Numa"}),
              ElementsAre("Numa.SwapInterval="));
}

TEST_F(CompletionTest, WithoutADaemonThereAreNoVmsAndNoComplaints) {
  EXPECT_THAT(offered({"--socket", directory_.path() + "/nobody", "explain", ""}), IsEmpty());
}

TEST_F(CompletionTest, AnUnknownSectionOfATemplateIsAnError) {
  const auto filled = tools::fill_completion("a\n@nonsense@\n", tools::command_table());
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().message, "there is no section '@nonsense@'");
}

TEST_F(CompletionTest, FishOffersCommandsOptionsAndValues) {
  if (!has_fish()) {
    GTEST_SKIP() << "fish is not installed";
  }
  EXPECT_THAT(fish_offers("expl"), ElementsAre("explain"));
  EXPECT_THAT(fish_offers("--json options s"), ElementsAre("set"));
  EXPECT_THAT(fish_offers("list -o "),
              UnorderedElementsAreArray({"table", "wide", "json", "csv", "name"}));
  EXPECT_THAT(fish_offers("history --si"), UnorderedElementsAreArray({"--since", "--sim"}));
  EXPECT_THAT(fish_offers("set web1 do_"), ElementsAre("do_not_move="));
  EXPECT_THAT(fish_offers("hel"), ElementsAre("help"));
  EXPECT_THAT(fish_offers("vers"), ElementsAre("version"));
  EXPECT_THAT(fish_offers("sim run pile"), ElementsAre("pile-up"));
  EXPECT_THAT(fish_offers("sim compare swap-only pile"), ElementsAre("pile-up"));
}

TEST_F(CompletionTest, FishOffersOptionsAndValuesOfTheOtherPrograms) {
  if (!has_fish()) {
    GTEST_SKIP() << "fish is not installed";
  }
  EXPECT_THAT(fish_offers("--re", "vmnumad"), ElementsAre("--replay"));
  EXPECT_THAT(fish_offers("--simulate pile", "vmnumad"), ElementsAre("pile-up"));
  EXPECT_THAT(fish_offers("-t numa-p", "sched-stats"), ElementsAre("numa-pnode"));
}

TEST_F(CompletionTest, ZshFinishesCommandsAndValues) {
  if (std::system("command -v zsh >/dev/null") != 0) {  // NOLINT(cert-env33-c)
    GTEST_SKIP() << "zsh is not installed";
  }
  const std::string script = directory_.path() + "/script";
  // The line editor wants a terminal; zpty(zshmodules) is one. What is typed and finished is run.
  std::ofstream(script) << "setup='PS1= path=(" << program_directory() << " $path) fpath=("
                        << VMNUMA_COMPLETIONS << R"(/zsh $fpath)
autoload -U compinit; compinit -D -u; echo re""ady'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell $setup
zpty -r shell line '*ready*'
zpty -n -w shell $'vmnuma sim run pile\t--epochs 2\n'
zpty -n -w shell $'vmnuma opt\tse\t\n'
zpty -n -w shell $'vmnumad --simulate pile\t--check-c\t\n'
zpty -w shell 'echo fin""ished'
zpty -r shell line '*finished*'
print -r -- $line
)";
  const std::vector<std::string> lines = output_of("zsh -f " + script);
  EXPECT_THAT(lines, Contains(HasSubstr("vmnuma sim run pile-up --epochs 2 --explain")));
  EXPECT_THAT(lines, Contains(HasSubstr("vmnuma: NAME is required")));
  EXPECT_THAT(lines, Contains(testing::StartsWith("ok")));
}

}  // namespace
}  // namespace vmnuma::tests
