// The order in which a search goes through a tree: search/top_k_search.h, threshold_search.h, beam_search.h.
// A strategy is started with the probability of the root. It then names, one after another, the inner nodes
// the probabilities of whose children it wants, and is given them. Where they come from is not its business,
// nor how many other searches go on meanwhile:
//   strategy.start(tree, allowed, root, ...);
//   while (strategy.wanted() >= 0) strategy.give(probabilities of the children of strategy.wanted());
//   strategy.take(labels);
// `mask`, if not null, has a flag per node: some label below it may be predicted. The tree is a view that is
// copied: it knows n_children(node), child(node, i), is_leaf(node) and label_of(leaf). What the best are is
// for a ranking to say, see search/ranking.h; a threshold is one of probabilities with any.
#pragma once

#include <cstdint>
#include <vector>

#include "core/label_tree.h"
#include "search/ranking.h"

namespace labeltree {

// The common part of all strategies: the node that is expanded now, and the nodes that wait.
template <class Tree>
class StepwiseSearch {
 public:
  // The inner node whose children are wanted, -1 when the search is over.
  int32_t wanted() const { return current_.node; }
  // What was found so far, in no order.
  const std::vector<ScoredLabel>& found() const { return found_; }
  // Frees what only a search that goes on needs.
  void release_waiting() { waiting_ = {}; }

 protected:
  void begin(const Tree& tree, const uint8_t* allowed) {
    tree_ = tree;
    allowed_ = allowed;
    found_.clear();
    waiting_.clear();
    current_.node = -1;
  }
  // A root that is a leaf is the only label, or none.
  void begin_at_root(float probability) {
    if (!tree_.is_leaf(0)) {
      waiting_.push_back({probability, 0});
    } else if (tree_.label_of(0) >= 0) {
      found_.push_back({probability, tree_.label_of(0)});
    }
  }
  bool allowed(int32_t node) const { return allowed_ == nullptr || allowed_[node]; }

  Tree tree_;
  const uint8_t* allowed_ = nullptr;
  ScoredNode current_{0, -1};
  std::vector<ScoredNode> waiting_;
  std::vector<ScoredLabel> found_;
};

}  // namespace labeltree
