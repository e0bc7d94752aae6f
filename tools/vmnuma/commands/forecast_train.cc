// SPDX-License-Identifier: Apache-2.0
// `vmnuma forecast train`: trains a model from the history, in a separate process.
//
// Problem: training takes seconds and needs a large library; the daemon can afford neither.
// Approach: a timer calls this once a day. It reads the history, which it never changes, and learns
// from all but the last day, on which the model is tested: a model that is not better there than
// the histogram is not written.
//
// Properties:
//  - the daemon's file is either the old one or a better one;
//  - the same history gives the same model.
// Ends with kExitOk even if there is not enough data to learn from.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "placement/forecast/score.h"
#include "stats/forecast/model_file.h"
#include "stats/forecast/trainer.h"
#include "stats/forecast/training_set.h"
#include "stats/history/loads.h"
#include "tools/vmnuma/commands/history_file.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

using stats::Example;

/// The minimum: a few VMs over two days.
constexpr std::size_t kLeastExamples = 1000;
/// More would take minutes and not improve the model; those of the last days are used.
constexpr std::size_t kMostExamples = 200'000;

struct Taught {
  std::vector<Example> examples;
  std::vector<Example> judged;  ///< of the last day
  std::int64_t vms = 0;
  std::int64_t last_minute = 0;
};

Result<Taught> read_examples(const std::filesystem::path& history) {
  Taught taught;
  stats::TrainingSet set;
  VMNUMA_RETURN_IF_ERROR(stats::read_vm_loads(history, /*vm=*/"", [&](const stats::VmLoads& loads) {
    KnownLoad known;
    for (const stats::MinuteLoad& load : loads.minutes) {
      set.add(loads.facts, known, load.minute, load.load);
      taught.last_minute = std::max(taught.last_minute, load.minute);
    }
    set.next_vm();
    ++taught.vms;
    return true;
  }));
  for (const Example& example : set.examples()) {
    // An example covers ten minutes after its own minute.
    const bool is_late = example.minute > taught.last_minute - LoadPast::kDay;
    const bool is_between =
        !is_late && example.minute + kForecastMinutes > taught.last_minute - LoadPast::kDay;
    if (!is_between) {
      (is_late ? taught.judged : taught.examples).push_back(example);
    }
  }
  if (taught.examples.size() > kMostExamples) {
    std::stable_sort(taught.examples.begin(), taught.examples.end(),
                     [](const Example& a, const Example& b) { return a.minute > b.minute; });
    taught.examples.resize(kMostExamples);
  }
  return taught;
}

ForecastScore score(const std::vector<Example>& examples, const TreeModel& model) {
  ForecastScore score;
  for (const Example& example : examples) {
    const Permille forecast = corrected(model, example.at);
    for (const std::int16_t load : example.loads) {
      score.add(forecast, Permille{load});
    }
  }
  return score;
}

std::string score_text(const ForecastScore& score) {
  return fmt::format("pinball loss {}.{:03} thousandths, coverage {}.{} %",
                     score.mean_loss() / 1000, score.mean_loss() % 1000,
                     score.coverage().value / 10, score.coverage().value % 10);
}

}  // namespace

OrFailure<int> ForecastTrainRun::run(const Context& context) const {
  const std::filesystem::path history = history_file(history_path, context);
  const std::filesystem::path path = model_path.empty() ? history.parent_path() / stats::kModelFile
                                                        : std::filesystem::path(model_path);
  VMNUMA_ASSIGN_OR_RETURN(const auto taught, read_examples(history));
  if (taught.examples.size() < kLeastExamples || taught.judged.empty()) {
    context.surroundings.out << fmt::format(
        "There is not enough to learn from: {} examples of {} VMs, {} are needed, and a day to "
        "judge by. Nothing was written.\n",
        taught.examples.size(), taught.vms, kLeastExamples);
    return kExitOk;
  }
  VMNUMA_ASSIGN_OR_RETURN(auto trees, stats::train_trees(taught.examples, stats::TrainerOptions{}));
  const TreeModel model{std::move(trees), taught.last_minute - LoadPast::kDay + 1};
  const ForecastScore ours = score(taught.judged, model);
  const ForecastScore histogram = score(taught.judged, {});
  context.surroundings.out << fmt::format(
      "{} examples of {} VMs; on the last day: {}; the histogram: {}.\n", taught.examples.size(),
      taught.vms, score_text(ours), score_text(histogram));
  if (ours.loss > histogram.loss) {
    context.surroundings.out << "It is no better than the histogram. Nothing was written.\n";
    return kExitOk;
  }
  VMNUMA_RETURN_IF_ERROR(stats::write_model(path, model));
  context.surroundings.out << fmt::format("Written to '{}'.\n", printable(path.string()));
  return kExitOk;
}

}  // namespace vmnuma::tools
