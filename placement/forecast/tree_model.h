// SPDX-License-Identifier: Apache-2.0
/// A forecast as a sum of decision trees.
///
/// Problem: what a library has learnt must be evaluated in a privileged daemon, every minute, for
/// every VM, and must not be able to harm it. Approach: only the trees are kept, as whole numbers;
/// evaluating one takes a few comparisons. A tree is a list of nodes in which children come after
/// their parent, so that every walk ends.
///
/// Terms: *correction* - what the trees add to the histogram's forecast, in thousandths of a
/// thousandth.
///
/// Properties:
///  - a walk through a model that is_sound() ends;
///  - a forecast lies between nothing and the VM's full time;
///  - it gives no forecast for minutes on which it was trained.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "placement/forecast/features.h"
#include "placement/forecast/predictors.h"

namespace vmnuma {

struct TreeNode {
  std::int32_t feature = -1;   ///< below 0: a leaf
  std::int32_t threshold = 0;  ///< less goes to `left`, all else to `right`
  std::int32_t left = 0;       ///< indices in the tree
  std::int32_t right = 0;
  std::int32_t correction = 0;  ///< of a leaf
  bool operator==(const TreeNode&) const = default;
};
using Tree = std::vector<TreeNode>;

struct TreeModel {
  std::vector<Tree> trees;
  std::int64_t trained_until = 0;  ///< the first minute on which it was not trained
  bool operator==(const TreeModel&) const = default;
};

/// Returns true if no tree is empty, children come after their parents and lie within the tree, and
/// all features exist.
[[nodiscard]] bool is_sound(const TreeModel& model);

/// Returns the index of the leaf in which a walk ends. The tree must be sound.
[[nodiscard]] std::size_t leaf_of(const Tree& tree, const Features& features);

/// Returns the histogram's forecast, corrected by all trees of a sound model.
[[nodiscard]] Permille corrected(const TreeModel& model, const FeaturesAt& at);

/// The model must be sound.
[[nodiscard]] Predictor trained_predictor(TreeModel model);

/// Returns all predictors that there are with that model, or without any, the most trusted first.
[[nodiscard]] std::vector<Predictor> predictors_with(std::optional<TreeModel> model);

}  // namespace vmnuma
