// The search for all labels with at least their threshold: algorithm 3 of the paper.
#pragma once

#include <cstdint>
#include <vector>

#include "search/stepwise_search.h"

namespace labeltree {

// All labels with at least their threshold, in no order. node_threshold[v]: the smallest below v; if it is
// null, `threshold` is that of all.
template <class Tree = LabelTreeView>
class ThresholdSearch : public StepwiseSearch<Tree> {
  using Base = StepwiseSearch<Tree>;
  using Base::allowed, Base::begin, Base::begin_at_root, Base::current_, Base::found_, Base::tree_,
      Base::waiting_;

 public:
  void start(const Tree& tree, const uint8_t* mask, float root, const float* node_threshold,
             float threshold) {
    begin(tree, mask);
    node_threshold_ = node_threshold;
    threshold_ = threshold;
    if (allowed(0) && reaches(0, root)) begin_at_root(root);
    next();
  }

  void give(const float* p) {
    const Tree tree = tree_;
    const float parent = current_.probability;
    const int32_t n = tree.n_children(current_.node);
    for (int32_t i = 0; i < n; ++i) {
      const int32_t child = tree.child(current_.node, i);
      const float probability = parent * p[i];
      if (!reaches(child, probability) || !allowed(child)) continue;
      if (tree.is_leaf(child)) {
        found_.push_back({probability, tree.label_of(child)});
      } else {
        waiting_.push_back({probability, child});
      }
    }
    next();
  }

  void take(std::vector<ScoredLabel>& out) { out.swap(found_); }

 private:
  bool reaches(int32_t node, float p) const {
    return p >= (node_threshold_ == nullptr ? threshold_ : node_threshold_[node]);
  }

  void next() {
    current_.node = -1;
    if (waiting_.empty()) return;
    current_ = waiting_.back();
    waiting_.pop_back();
  }

  const float* node_threshold_ = nullptr;
  float threshold_ = 0;
};

}  // namespace labeltree
