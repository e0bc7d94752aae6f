// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/trainer.h"

#include <set>

#include <gtest/gtest.h>

#include "stats/forecast/training_set.h"
#include "tests/support/load_families.h"

namespace vmnuma::stats {
namespace {

/// Examples of which one figure tells what comes: 800 if it is at least 50, else 100.
std::vector<Example> simple_examples() {
  std::vector<Example> examples;
  for (std::int32_t i = 0; i < 1000; ++i) {
    Example example;
    example.at.features[4] = i % 100;
    example.at.usual = Permille{500};
    example.loads.fill(static_cast<std::int16_t>(i % 100 >= 50 ? 800 : 100));
    examples.push_back(example);
  }
  return examples;
}

TEST(TrainerTest, FindsWhatTellsTheLoad) {
  const auto examples = simple_examples();
  const TreeModel model{train_trees(examples, {}).value(), 0};
  EXPECT_TRUE(is_sound(model));
  for (const std::int32_t figure : {0, 49, 50, 99}) {
    Example one = examples[static_cast<std::size_t>(figure)];
    EXPECT_EQ(corrected(model, one.at), Permille{figure >= 50 ? 800 : 100}) << figure;
  }
}

TEST(TrainerTest, FitsThePercentileAndNotTheMean) {
  std::vector<Example> examples(500);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    for (std::size_t minute = 0; minute < examples[i].loads.size(); ++minute) {
      examples[i].loads[minute] = static_cast<std::int16_t>((i * 10 + minute) % 1000);
    }
  }
  const TreeModel model{train_trees(examples, {}).value(), 0};
  EXPECT_NEAR(static_cast<double>(corrected(model, examples[0].at).value), 949, 2);
}

TEST(TrainerTest, EqualExamplesGiveEqualTrees) {
  EXPECT_EQ(train_trees(simple_examples(), {}).value(), train_trees(simple_examples(), {}).value());
}

TEST(TrainerTest, ALeafHasEnoughExamples) {
  const auto examples = simple_examples();
  const auto trees = train_trees(examples, {.trees = 5, .least_examples = 300}).value();
  for (const Tree& tree : trees) {
    std::vector<int> count(tree.size());
    for (const Example& example : examples) {
      ++count[leaf_of(tree, example.at.features)];
    }
    for (std::size_t i = 0; i < tree.size(); ++i) {
      EXPECT_TRUE(tree[i].feature >= 0 || count[i] >= 300);
    }
  }
}

TEST(TrainerTest, NoExamplesMakeNoTrees) {
  EXPECT_TRUE(train_trees({}, {}).value().empty());
}

class TrainingSetTest : public ::testing::Test {
 protected:
  /// A day of the VM, whose load in a minute is the minute's number modulo 1000, but for a gap.
  void live(std::int64_t gap_from = 0, std::int64_t gap_until = 0) {
    for (std::int64_t minute = 0; minute < LoadPast::kDay; ++minute) {
      if (minute < gap_from || minute >= gap_until) {
        set_.add({}, load_, minute, Permille{minute % 1000});
      }
    }
  }
  TrainingSet set_;
  KnownLoad load_;
};

TEST_F(TrainingSetTest, AnExampleHasTheTenMinutesAfterIt) {
  live();
  ASSERT_FALSE(set_.examples().empty());
  for (const Example& example : set_.examples()) {
    EXPECT_EQ(example.minute % TrainingSet::kStride, 0);
    EXPECT_EQ(example.at.features[0], example.minute % 1000);
    for (std::int64_t ahead = 1; ahead <= kForecastMinutes; ++ahead) {
      EXPECT_EQ(example.loads[static_cast<std::size_t>(ahead - 1)],
                (example.minute + ahead) % 1000);
    }
  }
}

TEST_F(TrainingSetTest, AGapEndsAnExample) {
  live(1000, 1010);
  for (const Example& example : set_.examples()) {
    EXPECT_FALSE(example.minute < 1010 && example.minute + kForecastMinutes >= 1000)
        << example.minute;
  }
}

}  // namespace
}  // namespace vmnuma::stats
