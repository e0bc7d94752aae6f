// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/memory_worker.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/service/remembered.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tests {
namespace {

using balancer::MemoryChange;
using balancer::MemoryOriginals;
using balancer::MemoryWorker;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// Remembers what it was told, and what the history knew at that moment.
class FakeUnits final : public balancer::UnitControl {
 public:
  explicit FakeUnits(stats::History* history) : history_(history) {}
  [[nodiscard]] Result<void> set_memory(const std::string& unit,
                                        const MemoryLimits& limits) override {
    calls.emplace_back(unit, limits);
    if (history_ != nullptr) {
      balancer::EventLog log(balancer::Severity::kError, balancer::HostTime());
      kept_before = balancer::remember(*history_, log).memory_originals;
    }
    if (problem) {
      return failure(*problem, "it does not answer");
    }
    return {};
  }

  [[nodiscard]] Result<bool> has_memory_settings(const std::string& unit) override {
    return has_settings.contains(unit);
  }
  [[nodiscard]] Result<void> remove_memory_settings(const std::string& unit) override {
    if (problem) {
      return failure(*problem, "it does not answer");
    }
    removed.push_back(unit);
    return {};
  }

  std::set<std::string> has_settings;
  std::vector<std::string> removed;
  std::vector<std::pair<std::string, MemoryLimits>> calls;
  MemoryOriginals kept_before;
  std::optional<ErrorCode> problem;

 private:
  stats::History* history_;
};

class MemoryWorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = stats::History::open({directory_.path() + "/h.sqlite", std::int64_t{16} << 20U});
    ASSERT_TRUE(opened) << opened.error().message;
    history_ = std::move(*opened);
    balancer::MemoryOriginal original;
    original.process = {7, 8};
    original.found.max = kGiB;
    originals_["machine.slice/a.scope"] = original;
  }

  static constexpr balancer::Patience kLong{std::chrono::minutes(1), std::chrono::minutes(1)};

  TempDirectory directory_;
  balancer::TaskBoard board_;
  std::unique_ptr<stats::History> history_;
  MemoryOriginals originals_;
  std::vector<MemoryChange> changes_{{"machine.slice/a.scope", {kMiB, {}, {}, {}, {}}},
                                     {"machine.slice", {kGiB, {}, {}, {}, {}}}};
  std::vector<std::pair<std::string, std::string>> answers_;
};

TEST_F(MemoryWorkerTest, KeepsWhatWasFoundBeforeItChangesAnything) {
  FakeUnits units(history_.get());
  MemoryWorker worker(
      board_, units, history_.get(),
      [&](const std::string& path, const std::string& why) { answers_.emplace_back(path, why); });
  worker.submit(originals_, changes_);
  EXPECT_TRUE(worker.drain(kLong));
  EXPECT_EQ(units.kept_before, originals_);
  EXPECT_THAT(units.calls, ElementsAre(Pair("a.scope", changes_[0].limits),
                                       Pair("machine.slice", changes_[1].limits)));
  EXPECT_THAT(answers_, ElementsAre(Pair("machine.slice/a.scope", ""), Pair("machine.slice", "")));
}

TEST_F(MemoryWorkerTest, WithoutAHistoryNothingIsChanged) {
  FakeUnits units(nullptr);
  MemoryWorker worker(board_, units, nullptr, [&](const std::string& path, const std::string& why) {
    answers_.emplace_back(path, why);
  });
  worker.submit(originals_, {changes_[0]});
  worker.submit(std::nullopt, {changes_[1]});
  EXPECT_TRUE(worker.drain(kLong));
  EXPECT_THAT(units.calls, IsEmpty());
  EXPECT_THAT(answers_, ElementsAre(Pair("machine.slice/a.scope", HasSubstr("no history")),
                                    Pair("machine.slice", HasSubstr("no history"))));
}

// ---- what systemd keeps ----

TEST_F(MemoryWorkerTest, NothingIsKeptOfAUnitThatIsAsItWasFoundOrHasEnded) {
  FakeUnits units(nullptr);
  MemoryWorker worker(
      board_, units, history_.get(),
      [&](const std::string& path, const std::string& why) { answers_.emplace_back(path, why); });
  worker.submit(originals_, changes_);
  worker.submit(std::nullopt,
                {{"machine.slice/a.scope", {}, MemoryChange::Kind::kForget},
                 {"machine.slice", {kMiB, {}, {}, {}, {}}, MemoryChange::Kind::kRestore},
                 {"machine.slice", {}, MemoryChange::Kind::kForget}});
  EXPECT_TRUE(worker.drain(kLong));
  EXPECT_THAT(units.removed, ElementsAre("a.scope", "machine.slice"));
  EXPECT_THAT(units.calls, ElementsAre(Pair("a.scope", changes_[0].limits),
                                       Pair("machine.slice", changes_[1].limits),
                                       Pair("machine.slice", MemoryLimits{kMiB, {}, {}, {}, {}})));
  EXPECT_THAT(*balancer::remember_touched_units(*history_), IsEmpty());
}

TEST_F(MemoryWorkerTest, SettingsThatWereThereBeforeStay) {
  FakeUnits units(nullptr);
  units.has_settings = {"machine.slice"};
  MemoryWorker worker(board_, units, history_.get(), [](const std::string&, const std::string&) {});
  worker.submit(originals_, changes_);
  worker.submit(std::nullopt, {{"machine.slice", {}, MemoryChange::Kind::kRestore}});
  EXPECT_TRUE(worker.drain(kLong));
  EXPECT_THAT(units.removed, IsEmpty());
}

TEST_F(MemoryWorkerTest, TheOwnerOfSettingsIsKnownAfterARestart) {
  for (const bool first : {true, false}) {
    FakeUnits units(nullptr);
    if (!first) {
      units.has_settings = {"a.scope", "machine.slice"};  // ours by now
    }
    MemoryWorker worker(board_, units, history_.get(),
                        [](const std::string&, const std::string&) {});
    if (first) {
      worker.submit(originals_, changes_);
    } else {
      worker.submit(std::nullopt, {changes_[0]});
      worker.submit(std::nullopt, {{"machine.slice/a.scope", {}, MemoryChange::Kind::kRestore}});
    }
    EXPECT_TRUE(worker.drain(kLong));
    EXPECT_THAT(units.removed, testing::SizeIs(first ? 0 : 1));
  }
  EXPECT_EQ(*balancer::remember_touched_units(*history_),
            (balancer::TouchedUnits{{"machine.slice", false}}));
}

TEST_F(MemoryWorkerTest, TheOwnerOfSettingsIsKnownWhateverBecomesOfTheHistory) {
  FakeUnits units(nullptr);
  units.has_settings = {"a.scope"};
  MemoryWorker worker(board_, units, history_.get(), [](const std::string&, const std::string&) {});
  EXPECT_EQ(worker.touched_units(), std::nullopt);
  worker.submit(originals_, changes_);
  EXPECT_TRUE(worker.drain(kLong));
  EXPECT_EQ(worker.touched_units(),
            (balancer::TouchedUnits{{"a.scope", true}, {"machine.slice", false}}));
}

TEST_F(MemoryWorkerTest, SettingsThatCannotBeRemovedAreSaidAndTriedAgain) {
  FakeUnits units(nullptr);
  MemoryWorker worker(
      board_, units, history_.get(),
      [&](const std::string& path, const std::string& why) { answers_.emplace_back(path, why); });
  worker.submit(originals_, {changes_[1]});
  EXPECT_TRUE(worker.drain(kLong));
  units.problem = ErrorCode::kPermissionDenied;
  MemoryWorker later(
      board_, units, history_.get(),
      [&](const std::string& path, const std::string& why) { answers_.emplace_back(path, why); });
  later.submit(std::nullopt, {{"machine.slice", {}, MemoryChange::Kind::kForget}});
  EXPECT_TRUE(later.drain(kLong));
  EXPECT_THAT(answers_.back(), Pair("machine.slice", HasSubstr("could not be removed")));
  EXPECT_THAT(*balancer::remember_touched_units(*history_), testing::SizeIs(1));
}

TEST_F(MemoryWorkerTest, AServiceManagerThatDoesNotAnswerIsAskedOnceABatch) {
  FakeUnits units(nullptr);
  units.problem = ErrorCode::kUnavailable;
  MemoryWorker worker(
      board_, units, history_.get(),
      [&](const std::string& path, const std::string& why) { answers_.emplace_back(path, why); });
  worker.submit(originals_, changes_);
  EXPECT_TRUE(worker.drain(kLong));
  EXPECT_THAT(units.calls, testing::SizeIs(1));
  EXPECT_THAT(answers_, ElementsAre(Pair("machine.slice/a.scope", "it does not answer"),
                                    Pair("machine.slice", "it does not answer")));
}

TEST_F(MemoryWorkerTest, ARefusalConcernsOneUnitOnly) {
  FakeUnits units(nullptr);
  units.problem = ErrorCode::kNotFound;
  MemoryWorker worker(
      board_, units, history_.get(),
      [&](const std::string& path, const std::string& why) { answers_.emplace_back(path, why); });
  worker.submit(originals_, changes_);
  EXPECT_TRUE(worker.drain(kLong));
  EXPECT_THAT(units.calls, testing::SizeIs(2));
}

}  // namespace
}  // namespace vmnuma::tests
