// The search for the k best labels: uniform-cost search, algorithm 4 of the paper.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "search/stepwise_search.h"

namespace labeltree {

// The k best labels with at least the probability `threshold`, best first (uniform-cost search with the k-th
// best as bound). There are fewer than k only where the tree has no more.
template <class Tree = LabelTreeView, class Ranking = ByProbability>
class TopKSearch : public StepwiseSearch<Tree> {
  using Base = StepwiseSearch<Tree>;
  using Base::allowed, Base::begin, Base::begin_at_root, Base::current_, Base::found_, Base::tree_,
      Base::waiting_;

 public:
  void start(const Tree& tree, const uint8_t* mask, float root, int64_t k, float threshold,
             const Ranking& ranking = {}) {
    begin(tree, mask);
    k_ = k;
    threshold_ = threshold;
    ranking_ = ranking;
    if (k > 0 && allowed(0) && useful({root, 0})) begin_at_root(root);
    next();
  }

  void give(const float* p) {
    const Tree tree = tree_;
    const float parent = current_.probability;
    const int32_t n = tree.n_children(current_.node);
    for (int32_t i = 0; i < n; ++i) {
      const int32_t child = tree.child(current_.node, i);
      const float probability = parent * p[i];
      if (!useful({probability, child}) || !allowed(child)) continue;
      if (!tree.is_leaf(child)) {
        waiting_.push_back({probability, child});
        push_ranked(waiting_, ranking_);
        continue;
      }
      found_.push_back({probability, tree.label_of(child)});  // a heap with the worst of the best on top
      push_ranked(found_, ranking_);
      if (static_cast<int64_t>(found_.size()) > k_) {
        pop_ranked(found_, ranking_);
        found_.pop_back();
      }
    }
    next();
  }

  void take(std::vector<ScoredLabel>& out) {
    std::sort(found_.begin(), found_.end(), ranking_);
    out.swap(found_);
  }

 private:
  // A node is useful if it can still change the answer. Of equal labels the first by number wins, so ties go
  // on; but not at 0, where whole trees may be tied.
  bool useful(const ScoredNode& node) const {
    if (static_cast<int64_t>(found_.size()) < k_) return node.probability >= threshold_;
    const auto value = ranking_.value(node), worst = ranking_.value(found_.front());
    const bool good = value > worst || (value == worst && value > 0);
    // By probability, a node that is not worse than a kept label reaches the threshold, because the label
    // does.
    if constexpr (std::is_same_v<Ranking, ByProbability>) return good;
    return good && node.probability >= threshold_;
  }

  void next() {
    current_.node = -1;
    if (waiting_.empty() || !useful(waiting_.front())) return;
    pop_ranked(waiting_, ranking_);
    current_ = waiting_.back();
    waiting_.pop_back();
  }

  int64_t k_ = 0;
  float threshold_ = 0;
  Ranking ranking_;
};

}  // namespace labeltree
