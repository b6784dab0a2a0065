// The approximate search for the k best labels: a few nodes of each level go on.
#pragma once

#include <cstdint>
#include <vector>

#include "search/stepwise_search.h"

namespace labeltree {

// Level by level, only the `beam` best inner nodes go on; then the k best labels with at least `threshold`.
template <class Tree = LabelTreeView, class Ranking = ByProbability>
class BeamSearch : public StepwiseSearch<Tree> {
  using Base = StepwiseSearch<Tree>;
  using Base::allowed, Base::begin, Base::begin_at_root, Base::current_, Base::found_, Base::tree_,
      Base::waiting_;

 public:
  void start(const Tree& tree, const uint8_t* mask, float root, int64_t k, int beam, float threshold,
             const Ranking& ranking = {}) {
    begin(tree, mask);
    k_ = k;
    beam_ = beam;
    threshold_ = threshold;
    ranking_ = ranking;
    level_.clear();
    at_ = 0;
    if (allowed(0) && (!tree.is_leaf(0) || root >= threshold)) begin_at_root(root);
    next();
  }

  void give(const float* p) {
    const Tree tree = tree_;
    const float parent = current_.probability;
    const int32_t n = tree.n_children(current_.node);
    for (int32_t i = 0; i < n; ++i) {
      const int32_t child = tree.child(current_.node, i);
      if (!allowed(child)) continue;
      const float probability = parent * p[i];
      if (!tree.is_leaf(child)) {
        waiting_.push_back({probability, child});
      } else if (probability >= threshold_) {
        found_.push_back({probability, tree.label_of(child)});
      }
    }
    next();
  }

  void take(std::vector<ScoredLabel>& out) {
    keep_best(k_, found_, ranking_);
    out.swap(found_);
  }

 private:
  void next() {
    if (at_ == level_.size()) {
      keep_beam(beam_, waiting_, ranking_);
      level_.swap(waiting_);
      waiting_.clear();
      at_ = 0;
    }
    current_.node = -1;
    if (at_ < level_.size()) current_ = level_[at_++];
  }

  int64_t k_ = 0;
  int beam_ = 0;
  float threshold_ = 0;
  Ranking ranking_;
  std::vector<ScoredNode> level_;
  size_t at_ = 0;
};

}  // namespace labeltree
