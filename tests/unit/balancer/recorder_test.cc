// SPDX-License-Identifier: Apache-2.0
#include "balancer/record/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "balancer/record/anonymizer.h"
#include "balancer/record/frame.h"
#include "placement/model/text.h"
#include "tests/support/recording_lines.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::Recorder;
using balancer::RecordingView;
using balancer::RecordNextRequest;
using balancer::RecordStartRequest;
using balancer::RecordStopRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RecorderTest : public testing::Test {
 protected:
  RecordingView ask(const balancer::Command& command) {
    const auto answer = recorder_.answer(command, controller_);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? std::get<RecordingView>(*answer) : RecordingView{};
  }
  void epoch() {
    Sample sample;
    sample.sequence = ++sequence_;
    sample.taken_at = {2'000'000 * sequence_};
    (void)recorder_.pass(controller_, balancer::SampleTaken{sample, 0});
  }

  balancer::Controller controller_{[] {
    balancer::ControllerSetup setup;
    setup.topology = small_host(2);
    return setup;
  }()};
  Recorder recorder_;
  std::int64_t sequence_ = 0;
};

TEST_F(RecorderTest, LinesAreTakenAsTheyCome) {
  const RecordingView begun = ask(RecordStartRequest{});
  EXPECT_THAT(begun.lines, SizeIs(1));
  EXPECT_THAT(begun.lines[0], HasSubstr("\"header\""));
  epoch();
  const RecordingView first = ask(RecordNextRequest{begun.recording});
  EXPECT_THAT(first.lines, SizeIs(2));  // sample and plan
  EXPECT_EQ(first.epochs, 1);
  EXPECT_THAT(ask(RecordNextRequest{begun.recording}).lines, IsEmpty());
  epoch();
  const RecordingView last = ask(RecordStopRequest{begun.recording});
  EXPECT_THAT(last.lines, SizeIs(2));
  EXPECT_EQ(last.ended, "it was stopped");
  EXPECT_FALSE(recorder_.running());
}

TEST_F(RecorderTest, QuestionsAreNotRecorded) {
  const RecordingView begun = ask(RecordStartRequest{});
  (void)recorder_.pass(controller_, balancer::CommandReceived{1, balancer::StatusRequest{}});
  (void)recorder_.pass(controller_, balancer::CommandReceived{1, balancer::PauseRequest{}});
  EXPECT_THAT(ask(RecordNextRequest{begun.recording}).lines, SizeIs(1));
}

TEST_F(RecorderTest, EndsAfterAsManyEpochsAsWereAskedFor) {
  const RecordingView begun = ask(RecordStartRequest{false, 2});
  for (int i = 0; i < 5; ++i) {
    epoch();
  }
  const RecordingView view = ask(RecordNextRequest{begun.recording});
  EXPECT_THAT(view.lines, SizeIs(4));
  EXPECT_TRUE(view.complete);
  EXPECT_EQ(view.epochs, 2);
}

TEST_F(RecorderTest, EndsWhenNoClientComesForItsLines) {
  const RecordingView begun = ask(RecordStartRequest{});
  for (std::int64_t i = 0; i <= Recorder::kPatience; ++i) {
    EXPECT_TRUE(recorder_.running());
    epoch();
  }
  EXPECT_FALSE(recorder_.running());
  EXPECT_THAT(ask(RecordNextRequest{begun.recording}).ended, HasSubstr("no request for it"));
  EXPECT_EQ(ask(RecordStartRequest{}).recording, begun.recording + 1);
}

TEST_F(RecorderTest, OnlyOneAtATimeAndOnlyItsOwn) {
  EXPECT_FALSE(recorder_.answer(RecordNextRequest{0}, controller_));
  const RecordingView begun = ask(RecordStartRequest{});
  EXPECT_EQ(recorder_.answer(RecordStartRequest{}, controller_).error().code, ErrorCode::kBusy);
  EXPECT_EQ(recorder_.answer(RecordNextRequest{begun.recording + 1}, controller_).error().code,
            ErrorCode::kNotFound);
}

TEST_F(RecorderTest, LongAnswersComeInParts) {
  recorder_.begin(controller_, false, std::nullopt);
  epoch();
  EXPECT_THAT(recorder_.take_lines(1), SizeIs(1));
  EXPECT_THAT(recorder_.take_lines(1), SizeIs(1));
  EXPECT_THAT(recorder_.take_lines(1 << 20), SizeIs(1));
  EXPECT_THAT(recorder_.take_lines(1), IsEmpty());
}

TEST(RecordedCellTest, KeepsWhatItsMemoryIsBoundTo) {
  VmDescription vm = small_vm(1, "one", 2);
  vm.cells = {{.id = 0, .vcpus = {0}, .memory = kVmMemory},
              {.id = 1,
               .vcpus = {1},
               .memory = kVmMemory,
               .binding = CellBinding{NumatuneMode::kStrict, {NodeId{1}}}}};
  const std::string line = balancer::event_line(1, balancer::DomainsChanged{{vm}}, nullptr);
  const auto cells_of = [](const std::string& text) {
    const auto frame = balancer::read_frame(text);
    EXPECT_TRUE(frame) << frame.error().message;
    return std::get<balancer::DomainsChanged>(std::get<balancer::Event>(frame->content))
        .running[0]
        .cells;
  };
  EXPECT_EQ(cells_of(line), vm.cells);

  // One of before there were bindings of cells.
  auto frame = nlohmann::ordered_json::parse(frame_of(line));
  for (auto& cell : frame["data"]["running"][0]["cells"]) {
    ASSERT_EQ(cell.erase("binding"), 1U);
  }
  vm.cells[1].binding.reset();
  EXPECT_EQ(cells_of(recording_line(frame.dump())), vm.cells);
}

TEST(RecordedStartTest, NamesItsDevicesUnlessItIsAnonymized) {
  balancer::AnnounceRequest start{"web1", to_text(vm_id(1)), 2, 64};
  start.devices = {{"0000:3b:00.0", {1}}};
  start.interfaces = {{"enp59s0", {1}}};
  start.disks = {{"nvme0n1", {0}}};
  const auto start_of = [](const std::string& line) {
    const auto frame = balancer::read_frame(line);
    EXPECT_TRUE(frame) << frame.error().message;
    const auto& event = std::get<balancer::Event>(frame->content);
    return std::get<balancer::AnnounceRequest>(std::get<balancer::CommandReceived>(event).command);
  };
  const balancer::CommandReceived told{7, start};
  EXPECT_EQ(start_of(balancer::event_line(1, told, nullptr)), start);

  balancer::Anonymizer anonymizer;
  const balancer::AnnounceRequest other = start_of(balancer::event_line(1, told, &anonymizer));
  EXPECT_THAT(other.devices, ElementsAre(PciDevice{"left out", {1}}));
  EXPECT_THAT(other.interfaces, ElementsAre(HostInterface{"left out", {1}}));
  EXPECT_THAT(other.disks, ElementsAre(HostDisk{"left out", {0}}));
}

TEST(AnonymizerTest, KeepsTheOrderOfIds) {
  balancer::Anonymizer anonymizer;
  std::map<VmId, VmId> other;
  for (const int number : {128, 7, 200, 64, 65, 66, 1, 255, 129, 127}) {
    const VmId vm = vm_id(static_cast<std::uint8_t>(number));
    other[vm] = anonymizer.id(vm);
  }
  VmId last;
  for (const auto& [vm, id] : other) {
    EXPECT_LT(last, id);
    EXPECT_NE(vm, id);
    EXPECT_EQ(anonymizer.id(vm), id);
    last = id;
  }
  EXPECT_TRUE(anonymizer.order_is_kept());
}

TEST(AnonymizerTest, TellsWhenItCannot) {
  balancer::Anonymizer anonymizer;
  // Each between the last two: halves the room every time.
  (void)anonymizer.id(vm_id(1));
  (void)anonymizer.id(vm_id(250));
  for (std::uint8_t number = 249; number > 130; --number) {
    (void)anonymizer.id(vm_id(number));
  }
  EXPECT_FALSE(anonymizer.order_is_kept());
}

TEST(AnonymizerTest, NamesStayApart) {
  balancer::Anonymizer anonymizer;
  EXPECT_EQ(anonymizer.vm_name("web1"), "vm1");
  EXPECT_EQ(anonymizer.vm_name("db1"), "vm2");
  EXPECT_EQ(anonymizer.vm_name("web1"), "vm1");
  EXPECT_EQ(anonymizer.vm_name(""), "");
  EXPECT_EQ(anonymizer.group("web1"), "group1");
  EXPECT_EQ(anonymizer.name_or_uuid("db1"), "vm2");
  EXPECT_NE(anonymizer.name_or_uuid("c7a5fdbd-edaf-9455-926a-d65c16db1809"),
            "c7a5fdbd-edaf-9455-926a-d65c16db1809");
}

TEST_F(RecorderTest, TellsTheStateWithoutBeginningARecording) {
  epoch();
  const balancer::Answer answer = balancer::state_of(controller_);
  const auto frame = balancer::read_frame(std::get<balancer::StateView>(answer).line);
  ASSERT_TRUE(frame) << frame.error().message;
  const auto& header = std::get<balancer::HeaderFrame>(frame->content);
  EXPECT_EQ(header.controller->snapshot().epoch, controller_.snapshot().epoch);
  EXPECT_FALSE(recorder_.running());
}

}  // namespace
}  // namespace vmnuma::tests
