// SPDX-License-Identifier: Apache-2.0
// What is recorded replays to the byte, in every scenario that comes with the program.
#include <algorithm>
#include <deque>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/record/frame.h"
#include "balancer/record/replay.h"
#include "placement/model/text.h"
#include "tests/sim/scenarios.h"

namespace vmnuma::tools {
namespace {

using balancer::replay;
using balancer::ReplayReport;
using testing::HasSubstr;
using testing::Not;

using Lines = std::vector<std::string>;

/// Few enough to be fast; all that goes wrong in the scenarios begins before.
constexpr std::int64_t kEpochs = 60;

/// Recorded from that epoch on; `happens` is called before each epoch.
Lines record(Scenario scenario, std::int64_t from, bool anonymize,
             const std::function<void(Simulation&)>& happens = {}) {
  scenario.epochs = std::min(scenario.epochs, kEpochs);
  Simulation simulation(std::move(scenario));
  Lines lines;
  while (!simulation.finished()) {
    if (simulation.epoch() == from) {
      simulation.record(anonymize);
    }
    if (happens) {
      happens(simulation);
    }
    simulation.run_epoch();
    for (std::string& line : simulation.take_recording()) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

Result<ReplayReport> replayed(const Lines& lines, const balancer::OtherOptions& other = {}) {
  std::size_t next = 0;
  return replay(
      [&]() -> std::optional<std::string> {
        return next < lines.size() ? std::optional(lines[next++]) : std::nullopt;
      },
      other);
}

void expect_the_same(const Lines& lines, std::int64_t at_least) {
  const auto report = replayed(lines);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GE(report->epochs, at_least);
  EXPECT_EQ(report->differing, 0);
  EXPECT_FALSE(report->damage) << report->damage->message;
  if (report->first_difference) {
    ADD_FAILURE() << "line " << report->first_difference->line << "\n"
                  << report->first_difference->recorded << "\n"
                  << report->first_difference->replayed;
  }
}

class EveryRecording : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static Scenario scenario() {
    return find_scenario(GetParam(), kScenarioDirectory).value();
  }
};

TEST_P(EveryRecording, ReplaysToTheByte) {
  expect_the_same(record(scenario(), 0, /*anonymize=*/false), 20);
}

TEST_P(EveryRecording, ReplaysFromTheMidst) {
  expect_the_same(record(scenario(), 17, /*anonymize=*/false), 20);
}

TEST_P(EveryRecording, ReplaysAnonymizedAndNamesNoVm) {
  Scenario named = scenario();
  for (ScenarioVm& vm : named.vms) {
    vm.name = "secret-" + vm.name;
  }
  const Lines lines = record(named, 11, /*anonymize=*/true);
  expect_the_same(lines, 20);
  for (const std::string& line : lines) {
    ASSERT_EQ(line.find("secret"), std::string::npos) << line.substr(0, 200);
  }
}

INSTANTIATE_TEST_SUITE_P(Sim, EveryRecording, testing::ValuesIn(scenario_names()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

Scenario pile_up() {
  return find_scenario("pile-up", kScenarioDirectory).value();
}

TEST(RecordingTest, CommandsAreInIt) {
  const Lines lines = record(pile_up(), 3, false, [](Simulation& simulation) {
    const std::string first = simulation.scenario().vms[0].name;
    const std::string second = simulation.scenario().vms[1].name;
    switch (simulation.epoch()) {
      case 5:
        (void)simulation.ask(balancer::PauseRequest{});
        break;
      case 9:
        (void)simulation.ask(balancer::ResumeRequest{});
        break;
      case 15:
        // At most one of them: a VM that moves cannot be moved.
        (void)simulation.ask(balancer::MoveRequest{first, {1}, {}});
        (void)simulation.ask(balancer::MoveRequest{first, {2}, {}});
        break;
      case 20:
        ASSERT_TRUE(simulation.ask(balancer::OptionsSetRequest{"Numa.MigThreshold", 9, false}));
        break;
      case 25:
        ASSERT_TRUE(simulation.ask(balancer::ReleaseRequest{second}));
        break;
      case 40:
        ASSERT_TRUE(simulation.ask(balancer::ManageRequest{second}));
        break;
      default:
        break;
    }
    (void)simulation.ask(balancer::StatusRequest{});
  });
  expect_the_same(lines, 50);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) {
                            return line.find("\"event\":\"command\"") != std::string::npos;
                          }),
            7);
}

class RecordedStarts : public testing::TestWithParam<bool> {};

// Recorded from the midst of the storm on: some have asked, some are only announced, and all VMs
// that the recording knows by name from its beginning or later are the same to it.
TEST_P(RecordedStarts, ReplayToTheByte) {
  const bool anonymize = GetParam();
  Scenario storm = find_scenario("boot-storm", kScenarioDirectory).value();
  for (ScenarioVm& vm : storm.vms) {
    vm.name = "secret" + vm.name;
  }
  const auto announce = [](Simulation& simulation, std::size_t vm) {
    const ScenarioVm& spec = simulation.scenario().vms[vm];
    ASSERT_TRUE(
        simulation.ask(balancer::AnnounceRequest{spec.name, to_text(SimHost::id_of_started(vm)),
                                                 spec.vcpus, spec.memory.value / kMiB.value}));
  };
  const Lines lines = record(storm, 3, anonymize, [&](Simulation& simulation) {
    const auto now = static_cast<std::size_t>(simulation.epoch());
    if (now == 2 || now == 3) {
      for (std::size_t vm = now * 4; vm < now * 4 + 4; ++vm) {
        announce(simulation, vm);
      }
      for (std::int64_t asks = 0; asks < 3; ++asks) {
        ASSERT_TRUE(simulation.ask(balancer::SuggestRequest{2, 4096}));
      }
      ASSERT_TRUE(simulation.ask(balancer::SuggestRequest{1, 512}));  // of no announced VM
    } else if (now == 5) {
      ASSERT_TRUE(simulation.ask(balancer::WithdrawRequest{to_text(SimHost::id_of_started(15))}));
    }
  });
  expect_the_same(lines, 50);
  for (const std::string& line : lines) {
    const bool tells = line.find("secret") != std::string::npos ||
                       line.find("513a0000-0000-4000-8000") != std::string::npos;
    ASSERT_FALSE(anonymize && tells) << line.substr(0, 200);
  }
}

INSTANTIATE_TEST_SUITE_P(Sim, RecordedStarts, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Anonymized" : "Plain"; });

TEST(RecordingTest, AnotherOptionIsEvaluatedEpochByEpoch) {
  const Lines lines = record(pile_up(), 0, false);
  const auto same = replayed(lines, {{"Numa.MigThreshold", 2}});
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->other->epochs_that_differ, 0);
  EXPECT_EQ(same->other->recorded_moves, same->other->other_moves);
  EXPECT_GE(same->other->recorded_moves, 3);
  const auto never = replayed(lines, {{"Numa.RebalanceEnable", 0}});
  EXPECT_EQ(never->other->other_moves, 0);
  EXPECT_GT(never->other->epochs_that_differ, 0);
  EXPECT_EQ(never->differing, 0);  // what was recorded is what was recorded
  EXPECT_THAT(replayed(lines, {{"Numa.X", 0}}).error().message, HasSubstr("Numa.X"));
}

TEST(RecordingTest, ADamagedLineIsToldAndTheGoodPartIsReplayed) {
  Lines lines = record(pile_up(), 0, false);
  const std::size_t bad = lines.size() / 2;
  const std::size_t digit = lines[bad].find_first_of("0123456789", 30);
  lines[bad][digit] = lines[bad][digit] == '1' ? '2' : '1';
  const auto report = replayed(lines);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->damage);
  EXPECT_THAT(report->damage->message, HasSubstr("line " + std::to_string(bad + 1) + ": "));
  EXPECT_THAT(report->damage->message, HasSubstr("checksum"));
  EXPECT_GT(report->epochs, 10);
  EXPECT_EQ(report->differing, 0);
}

TEST(RecordingTest, ALineThatIsCutOffOrMissingIsTold) {
  Lines lines = record(pile_up(), 0, false);
  Lines cut(lines.begin(), lines.begin() + 41);
  cut.back().resize(cut.back().size() / 2);
  EXPECT_THAT(replayed(cut)->damage->message, HasSubstr("line 41: "));
  lines.erase(lines.begin() + 30);
  EXPECT_THAT(replayed(lines)->damage->message,
              HasSubstr("line 31: it is frame 31, but must be frame 30"));
}

TEST(RecordingTest, AChangedPlanIsShownWithItsPlace) {
  Lines lines = record(pile_up(), 0, false);
  // A plan with other figures, and a checksum that is right.
  std::size_t at = 0;
  for (std::size_t i = 0; i < lines.size() && at == 0; ++i) {
    at = i > 20 && lines[i].find("\"plan\":{\"epoch\":") < 30 ? i : 0;
  }
  ASSERT_GT(at, 0U);
  Plan plan;
  plan.epoch = 999;
  lines[at] = balancer::plan_line(static_cast<std::int64_t>(at), plan, nullptr);
  const auto report = replayed(lines);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->differing, 1);
  ASSERT_TRUE(report->first_difference);
  EXPECT_EQ(report->first_difference->line, at + 1);
  EXPECT_THAT(report->first_difference->recorded, HasSubstr("\"epoch\":999"));
  EXPECT_THAT(report->first_difference->replayed, Not(HasSubstr("\"epoch\":999")));
}

/// The line without what the text says, and with a checksum that is right.
std::string without(std::string line, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const std::size_t at = line.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    line.erase(at, text.size());
  }
  const std::size_t begin = std::string_view(R"({"frame":)").size();
  const std::size_t end = line.rfind(R"(,"crc32":")");
  std::uint32_t crc = 0xffffffffU;
  for (std::size_t i = begin; i < end; ++i) {
    crc ^= static_cast<unsigned char>(line[i]);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1U) != 0 ? 0xedb88320U ^ (crc >> 1U) : crc >> 1U;
    }
  }
  return line.substr(0, end) + fmt::format(R"(,"crc32":"{:08x}"}})", crc ^ 0xffffffffU) + "\n";
}

TEST(RecordingTest, OneOfBeforeWakeUpsWereCountedIsRead) {
  Lines lines = record(pile_up(), 0, false);
  for (std::string& line : lines) {
    if (line.find(R"("header":)") < 30) {
      line = without(line, {R"("Numa.LocalityWeightActionAffinity":0,)",
                            R"(,"wakeups":{"pairs":[],"epochs_held":0})", R"(,"chats":[])"});
    } else if (line.find(R"("event":"sample")") < 30) {
      line = without(line, {R"("wakeups":null,)"});
    }
  }
  expect_the_same(lines, 10);
}

TEST(RecordingTest, NamesEnumerationsAndNotTheirPlaces) {
  const Lines lines = record(pile_up(), 0, false);
  const std::string all = fmt::format("{}", fmt::join(lines, ""));
  EXPECT_THAT(all, HasSubstr(R"("format":2)"));
  EXPECT_THAT(all, HasSubstr(R"("memory_mode":"soft")"));
  EXPECT_THAT(all, HasSubstr(R"("reason":"load-)"));
}

TEST(RecordingTest, ANameThatIsNotKnownIsRefused) {
  const std::string known = R"("memory_mode":"soft")";
  Lines lines = record(pile_up(), 0, false);
  for (std::string& line : lines) {
    if (const std::size_t at = line.find(known); at != std::string::npos) {
      const auto frame = balancer::read_frame(
          without(line.replace(at, known.size(), R"("memory_mode":"velvet")"), {}));
      ASSERT_FALSE(frame);
      EXPECT_THAT(frame.error().message, HasSubstr("memory_mode"));
      return;
    }
  }
  FAIL() << "no frame has a memory mode";
}

// Written by the last version with format 1, whose enumerations are places: `sim run swap-only
// --epochs 12`.
TEST(RecordingTest, OneOfFormat1IsRead) {
  std::ifstream file(VMNUMA_SOURCE_DIR "/tests/fixtures/recordings/format-1");
  Lines lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  ASSERT_THAT(lines, testing::SizeIs(testing::Gt(30U)));
  bool swaps = false;
  for (const std::string& line : lines) {
    const auto frame = balancer::read_frame(line);
    ASSERT_TRUE(frame) << frame.error().message;
    const auto* plan = std::get_if<balancer::PlanFrame>(&frame->content);
    swaps |= plan != nullptr && plan->text.find(R"("reason":"load-swap")") != std::string::npos;
  }
  EXPECT_TRUE(swaps);
  const auto report = replayed(lines);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->damage);
  EXPECT_EQ(report->epochs, 12);
}

TEST(RecordingTest, WhatIsNoRecordingIsRefused) {
  EXPECT_THAT(replayed({}).error().message, HasSubstr("empty"));
  EXPECT_THAT(replayed({"hello"}).error().message, HasSubstr("line 1: "));
  const Lines lines = record(pile_up(), 0, false);
  EXPECT_FALSE(replayed({lines[1]}));
  for (const std::string text : {"{}", "[]", "1", "{\"n\":0}", "{\"n\":0,\"header\":{}}",
                                 "{\"n\":0,\"header\":{\"format\":1,\"state\":{}}}",
                                 "{\"n\":0,\"event\":\"x\",\"data\":{}}"}) {
    EXPECT_FALSE(balancer::read_frame(text)) << text;
  }
}

}  // namespace
}  // namespace vmnuma::tools
