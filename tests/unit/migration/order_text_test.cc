// SPDX-License-Identifier: Apache-2.0
#include "migration/order_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/property.h"

namespace vmnuma::migration {
namespace {

using testing::HasSubstr;

Order sample_order() {
  VmChange change;
  change.vm.uuid = {0xc7, 0xa5, 0xfd, 0xbd};
  change.vm_name = "web \"1\"\n";
  change.process = {812, 18'446'744'073'709'551'615U};
  change.domain_id = 3;
  change.homes = {{0, NodeId{-1}, NodeId{1}}, {1, NodeId{0}, NodeId{1}, NodeId{2}}};
  change.pins = {{PinChange::Thread::kVcpu, 3, {CpuId{0}, CpuId{1}, CpuId{7}}, {CpuId{8}}},
                 {PinChange::Thread::kEmulator, 0, {}, {CpuId{8}, CpuId{9}}},
                 {PinChange::Thread::kIoThread, 2, {}, {CpuId{8}}}};
  change.memory = {{{NodeId{1}, kGiB}, {NodeId{3}, kMiB}},
                   {{kGiB * 2, NodeId{3}}, {kMiB, NodeId{1}}},
                   {NodeId{0}},
                   {NodeId{1}, NodeId{3}}};
  change.memory_mode = MemoryMode::kMask;
  VmChange other;
  other.vm_name = "db1";
  return {.action = 7,
          .epoch = 90,
          .reason = Reason::kLoadSwap,
          .changes = {change, other},
          .predicted = {.lost_before = {1},
                        .lost_after = {-2},
                        .cost = {3},
                        .imbalance_before = {4},
                        .imbalance_after = {5},
                        .locality_before = {6},
                        .locality_after = {7}}};
}

TEST(OrderTextTest, ReadsWhatItWrote) {
  const Order order = sample_order();
  const auto read = parse_order(to_text(order));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, order);
  Order unknown = order;
  unknown.predicted = {.known = false};
  EXPECT_EQ(parse_order(to_text(unknown)).value(), unknown);
}

TEST(OrderTextTest, AnOlderOrderDoesNotTellTheDomainIdAndTellsNodesToUndo) {
  std::string text = to_text(sample_order());
  const std::string id = R"("domain_id":3,)";
  ASSERT_NE(text.find(id), std::string::npos);
  text.replace(text.find(id), id.size(), R"("undo_nodes":"0,2",)");
  const auto read = parse_order(text);
  ASSERT_TRUE(read) << read.error().message;
  Order order = sample_order();
  order.changes[0].domain_id = -1;
  EXPECT_EQ(*read, order);
}

TEST(OrderTextTest, KnowsEveryReasonSoThatNoCrashLosesAnOrder) {
  for (const Reason reason : kValuesOf<Reason>) {
    const auto read = parse_order(to_text(Order{.reason = reason}));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->reason, reason);
  }
}

TEST(OrderTextTest, WritesAnOrderWithoutChanges) {
  const auto read = parse_order(to_text(Order{}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, Order{});
}

TEST(OrderTextTest, IsOneLineOfText) {
  EXPECT_EQ(to_text(sample_order()).find('\n'), std::string::npos);
}

TEST(OrderTextTest, ANameThatIsNoUtf8StillGivesReadableText) {
  Order order = sample_order();
  order.changes[0].vm_name = "\xff\xfe";
  EXPECT_TRUE(parse_order(to_text(order)));
}

struct BadText {
  std::string text;
  std::string message;
};

class BadOrderTextTest : public testing::TestWithParam<BadText> {};

TEST_P(BadOrderTextTest, IsRefused) {
  const auto read = parse_order(GetParam().text);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(read.error().message, HasSubstr(GetParam().message));
}

std::string with(const std::string& old_part, const std::string& new_part) {
  std::string text = to_text(sample_order());
  const std::size_t at = text.find(old_part);
  EXPECT_NE(at, std::string::npos) << old_part;
  return at == std::string::npos ? text : text.replace(at, old_part.size(), new_part);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadOrderTextTest,
    testing::Values(
        BadText{"", "is not a JSON object"}, BadText{"{", "is not a JSON object"},
        BadText{"[]", "is not a JSON object"}, BadText{"7", "it is not a JSON object"},
        BadText{"{}", "'action' is missing"},
        BadText{with(R"("action":7)", R"("action":7.0)"), "'action' is not what it should be"},
        BadText{with(R"("action":7)", R"("action":"7")"), "'action' is not what it should be"},
        BadText{with(R"("reason":"load-swap")", R"("reason":"whim")"), "'reason' is not what"},
        BadText{with(R"("client":0)", R"("client":4294967296)"),
                "'changes[0].homes[0].client' is not what"},
        BadText{with(R"("thread":"vcpu")", R"("thread":"gpu")"),
                "'changes[0].pins[0].thread' is not what"},
        BadText{with(R"("after":"8")", R"("after":"8-")"),
                "'changes[0].pins[0].after' is not what"},
        BadText{with(R"("pid":812)", R"("pidd":812)"), "'changes[0].pid' is missing"},
        BadText{with(R"("start_time_ticks":0)", R"("start_time_ticks":-1)"),
                "'changes[1].start_time_ticks' is not what"},
        BadText{with(R"("vm":"c7a5)", R"("vm":"c7g5)"), "'changes[0].vm' is not what"},
        BadText{with(R"("memory_mode":"mask")", R"("memory_mode":"")"), "memory_mode' is not what"},
        BadText{with(R"("predicted":{)", R"("predicted":7,"x":{)"), "'predicted' is not what"},
        BadText{with(R"("cost_us":3,)", ""), "'predicted.cost_us' is missing"},
        BadText{R"({"action":1,"epoch":1,"reason":"load-move","changes":{}})",
                "'changes' is not what"},
        BadText{R"({"action":1,"epoch":1,"reason":"load-move","changes":[1]})",
                "'changes[0]' is not what"}));

TEST(OrderTextTest, WhatOlderOrdersPredictedIsKnown) {
  const auto read = parse_order(with(R"("known":true,)", ""));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->predicted.known);
}

TEST(OrderTextTest, RefusesMoreThanAnyOrderCanBe) {
  EXPECT_FALSE(parse_order(std::string(65U << 20U, ' ')));
}

RC_GTEST_PROP(OrderTextTest, ACutTextIsRefused, ()) {
  const std::string text = to_text(sample_order());
  const auto length = *rc::gen::inRange<std::size_t>(0, text.size());
  RC_ASSERT(!parse_order(std::string_view(text).substr(0, length)));
}

RC_GTEST_PROP(OrderTextTest, ChangedBytesNeverCrashIt, ()) {
  std::string text = to_text(sample_order());
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  }
  const auto read = parse_order(text);
  RC_ASSERT(read || read.error().code == ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace vmnuma::migration
