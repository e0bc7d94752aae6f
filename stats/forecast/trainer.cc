// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/trainer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xgboost/c_api.h>

#include "stats/text/json.h"

namespace vmnuma::stats {

using Json = nlohmann::json;

namespace {

/// Corrections are in millionths: thousandths of a Permille.
constexpr std::int64_t kScale = 1000;

tl::unexpected<Error> xgboost_failure(std::string_view doing) {
  return failure(ErrorCode::kUnavailable,
                 fmt::format("XGBoost cannot {}: {}", doing, XGBGetLastError()));
}

struct FreeMatrix {
  void operator()(void* handle) const { (void)XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { (void)XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

Result<Matrix> matrix_of(const std::vector<Example>& examples) {
  std::vector<float> figures;
  figures.reserve(examples.size() * kFeatures);
  for (const Example& example : examples) {
    for (const std::int32_t figure : example.at.features) {
      figures.push_back(static_cast<float>(figure));
    }
  }
  DMatrixHandle handle = nullptr;
  if (XGDMatrixCreateFromMat(figures.data(), examples.size(), kFeatures, std::nanf(""), &handle) !=
      0) {
    return xgboost_failure("load the examples");
  }
  return Matrix(handle);
}

/// A tree in XGBoost's JSON: nodes with split, split_condition (smaller values go to `yes`) and
/// children, or a leaf (doc/tutorials, dump_model, 1.7).
std::int32_t append(const Json& json, Tree& tree) {
  const auto at = static_cast<std::int32_t>(tree.size());
  tree.emplace_back();
  if (json.contains("leaf")) {
    return at;
  }
  TreeNode node;
  node.feature =
      static_cast<std::int32_t>(std::stol(json.at("split").get<std::string>().substr(1)));
  node.threshold = static_cast<std::int32_t>(std::ceil(json.at("split_condition").get<double>()));
  const auto yes = json.at("yes").get<std::int64_t>();
  for (const Json& child : json.at("children")) {
    (child.at("nodeid") == yes ? node.left : node.right) = append(child, tree);
  }
  tree[static_cast<std::size_t>(at)] = node;
  return at;
}

/// Grows a tree for these gradients; its leaves have no values yet.
Result<Tree> grow(void* matrix, std::vector<float>& gradients, std::vector<float>& curvatures,
                  const TrainerOptions& options) {
  BoosterHandle handle = nullptr;
  if (XGBoosterCreate(&matrix, 1, &handle) != 0) {
    return xgboost_failure("start a tree");
  }
  const Booster booster(handle);
  const std::pair<const char*, std::string> parameters[] = {
      {"tree_method", "hist"},
      {"max_depth", std::to_string(options.depth)},
      {"min_child_weight", std::to_string(options.least_examples)},
      {"lambda", "0"},
      {"eta", "1"},
      {"nthread", "1"},
      {"verbosity", "0"}};
  for (const auto& [name, value] : parameters) {
    if (XGBoosterSetParam(handle, name, value.c_str()) != 0) {
      return xgboost_failure("be set up");
    }
  }
  if (XGBoosterBoostOneIter(handle, matrix, gradients.data(), curvatures.data(),
                            gradients.size()) != 0) {
    return xgboost_failure("grow a tree");
  }
  bst_ulong count = 0;
  const char** texts = nullptr;
  if (XGBoosterDumpModelEx(handle, "", 0, "json", &count, &texts) != 0 || count != 1) {
    return xgboost_failure("show its tree");
  }
  const std::string_view text = texts[0];
  VMNUMA_ASSIGN_OR_RETURN(
      const auto json,
      text::read_json<Json>(text, {text.size(), 2 * static_cast<std::size_t>(options.depth) + 2},
                            "XGBoost's tree"));
  try {
    Tree tree;
    (void)append(json, tree);
    return tree;
  } catch (const std::exception& exception) {
    return failure(ErrorCode::kUnavailable,
                   fmt::format("XGBoost's tree cannot be read: {}", exception.what()));
  }
}

/// Returns the 95th percentile (nearest rank).
std::int64_t percentile(std::vector<std::int64_t>& values) {
  const auto rank = static_cast<std::ptrdiff_t>(
      (values.size() * static_cast<std::size_t>(kForecastShare.value) + 999) / 1000 - 1);
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

}  // namespace

Result<std::vector<Tree>> train_trees(const std::vector<Example>& examples,
                                      const TrainerOptions& options) {
  std::vector<Tree> trees;
  if (examples.empty()) {
    return trees;
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto matrix, matrix_of(examples));
  std::vector<std::int64_t> forecasts;  // by example, in units of 1/kScale
  forecasts.reserve(examples.size());
  for (const Example& example : examples) {
    forecasts.push_back(example.at.usual.value * kScale);
  }
  std::vector<float> gradients(examples.size());
  std::vector<float> curvatures(examples.size(), 1.0F);
  std::vector<std::size_t> leaves(examples.size());
  for (int round = 0; round < options.trees; ++round) {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      std::int64_t above = 0;
      for (const std::int16_t load : examples[i].loads) {
        above += load * kScale > forecasts[i] ? 1 : 0;
      }
      gradients[i] = static_cast<float>((kForecastMinutes - above) * 5 - above * 95) / 100.0F;
    }
    VMNUMA_ASSIGN_OR_RETURN(auto tree, grow(matrix.get(), gradients, curvatures, options));
    std::vector<std::vector<std::int64_t>> lacking(tree.size());
    for (std::size_t i = 0; i < examples.size(); ++i) {
      leaves[i] = leaf_of(tree, examples[i].at.features);
      for (const std::int16_t load : examples[i].loads) {
        lacking[leaves[i]].push_back(load * kScale - forecasts[i]);
      }
    }
    for (std::size_t leaf = 0; leaf < lacking.size(); ++leaf) {
      if (!lacking[leaf].empty()) {
        tree[leaf].correction =
            static_cast<std::int32_t>(percentile(lacking[leaf]) * options.rate_pct / 100);
      }
    }
    for (std::size_t i = 0; i < examples.size(); ++i) {
      forecasts[i] += tree[leaves[i]].correction;
    }
    trees.push_back(std::move(tree));
  }
  return trees;
}

}  // namespace vmnuma::stats
