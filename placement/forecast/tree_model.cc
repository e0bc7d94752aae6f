// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/tree_model.h"

#include <algorithm>
#include <utility>

namespace vmnuma {
namespace {

constexpr std::int64_t kPerThousandth = 1000;

bool is_sound_tree(const Tree& tree) {
  const auto size = static_cast<std::int64_t>(tree.size());
  for (std::int64_t i = 0; i < size; ++i) {
    const TreeNode& node = tree[static_cast<std::size_t>(i)];
    const auto is_child = [&](std::int32_t child) { return child > i && child < size; };
    if (node.feature >= static_cast<std::int32_t>(kFeatures) ||
        (node.feature >= 0 && (!is_child(node.left) || !is_child(node.right)))) {
      return false;
    }
  }
  return size > 0;
}

}  // namespace

bool is_sound(const TreeModel& model) {
  return std::ranges::all_of(model.trees, is_sound_tree);
}

std::size_t leaf_of(const Tree& tree, const Features& features) {
  std::size_t at = 0;
  while (tree[at].feature >= 0) {
    const TreeNode& node = tree[at];
    const bool less = features[static_cast<std::size_t>(node.feature)] < node.threshold;
    at = static_cast<std::size_t>(less ? node.left : node.right);
  }
  return at;
}

Permille corrected(const TreeModel& model, const FeaturesAt& at) {
  std::int64_t sum = at.usual.value * kPerThousandth;
  for (const Tree& tree : model.trees) {
    sum += tree[leaf_of(tree, at.features)].correction;
  }
  return Permille{std::clamp<std::int64_t>((sum + kPerThousandth / 2) / kPerThousandth, 0, 1000)};
}

Predictor trained_predictor(TreeModel model) {
  return {
      PredictorKind::kTrained,
      [model = std::move(model)](const VmFacts& vm, const KnownLoad& load, std::int64_t minute) {
        const std::optional<FeaturesAt> at =
            minute < model.trained_until ? std::nullopt : features_at(vm, load, minute);
        return at ? std::optional(corrected(model, *at)) : std::nullopt;
      }};
}

std::vector<Predictor> predictors_with(std::optional<TreeModel> model) {
  std::vector<Predictor> predictors;
  if (model) {
    predictors.push_back(trained_predictor(*std::move(model)));
  }
  predictors.push_back(histogram_predictor());
  predictors.push_back(last_maximum_predictor());
  return predictors;
}

}  // namespace vmnuma
