#include "online/tree_policy.h"

#include <cmath>
#include <stdexcept>

#include "online/online_tree.h"

namespace labeltree {

namespace {

void check_not_stuck(bool stuck) {
  if (stuck) throw std::invalid_argument("no node of the tree is open: the model is damaged");
}

}  // namespace

Extension FixedPolicy::choose(const OnlineTree&, const Example&, int32_t) {
  throw std::invalid_argument("this tree is fixed: it takes no new labels");
}

Extension CompletePolicy::choose(const OnlineTree& tree, const Example&, int32_t) {
  for (;; ++next_) {
    check_not_stuck(next_ < 0 || next_ >= tree.n_nodes());
    if (tree.is_open(next_)) break;
    ++n_steps;
  }
  ++n_steps;
  return {next_, tree.is_leaf(next_)};
}

Extension RandomPolicy::choose(const OnlineTree& tree, const Example&, int32_t) {
  int32_t node = 0;
  while (!tree.is_open(node)) {
    ++n_steps;
    const auto& children = tree.children(node);
    check_not_stuck(children.empty());
    state_ = Random(state_).next();
    node = children[Random(state_).below(static_cast<uint32_t>(children.size()))];
  }
  ++n_steps;
  return {node, tree.is_leaf(node)};
}

Extension BestFitPolicy::choose(const OnlineTree& tree, const Example& x, int32_t) {
  int32_t node = 0;
  while (!tree.is_open(node)) {
    ++n_steps;
    const auto& children = tree.children(node);
    check_not_stuck(children.empty());
    probability_.resize(children.size());
    tree.probabilities(tree.block_of(node), x, false, probability_.data());
    const double mean = static_cast<double>(tree.n_leaves(node)) / static_cast<double>(children.size());
    int32_t best = children[0];
    double best_value = -INFINITY;
    for (size_t i = 0; i < children.size(); ++i) {
      const double value = (1 - alpha_) * probability_[i] +
                           alpha_ * std::log(mean / static_cast<double>(tree.n_leaves(children[i])));
      if (value > best_value) {
        best_value = value;
        best = children[i];
      }
    }
    node = best;
  }
  ++n_steps;
  return {node, tree.is_leaf(node)};
}

}  // namespace labeltree
