// In which order a search goes through a tree: algorithms 3 and 4 of the paper, and beam search.
// A strategy is started with the probability of the root. It then names, one after another, the inner nodes
// the probabilities of whose children it wants, and is given them. Where they come from is not its business,
// nor how many other searches go on meanwhile:
//   strategy.start(tree, allowed, root, ...);
//   while (strategy.wanted() >= 0) strategy.give(probabilities of the children of strategy.wanted());
//   strategy.take(labels);
// `mask`, if not null, has a flag per node: some label below it may be predicted. The tree is a view that is
// copied: it knows n_children(node), child(node, i), is_leaf(node) and label_of(leaf). What the best are is
// for a ranking to say, see ranking.h; a threshold is one of probabilities with any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "label_tree.h"
#include "ranking.h"

namespace labeltree {

// What all strategies have: the node that is being expanded, and those that wait.
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
  bool allowed(int32_t node) const { return allowed_ == nullptr || allowed_[node]; }

  Tree tree_;
  const uint8_t* allowed_ = nullptr;
  ScoredNode current_{0, -1};
  std::vector<ScoredNode> waiting_;
  std::vector<ScoredLabel> found_;
};

// The k best labels with at least the probability `threshold`, best first (uniform-cost search with the k-th
// best as bound). There are fewer than k only where the tree has no more.
template <class Tree = LabelTreeView, class Ranking = ByProbability>
class TopKSearch : public StepwiseSearch<Tree> {
  using Base = StepwiseSearch<Tree>;
  using Base::allowed, Base::begin, Base::current_, Base::found_, Base::tree_, Base::waiting_;

 public:
  void start(const Tree& tree, const uint8_t* mask, float root, int k, float threshold,
             const Ranking& ranking = {}) {
    begin(tree, mask);
    k_ = k;
    threshold_ = threshold;
    ranking_ = ranking;
    if (k > 0 && allowed(0) && useful({root, 0})) waiting_.push_back({root, 0});
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
      if (static_cast<int>(found_.size()) > k_) {
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
  // A node is of use if it can still change the answer. Of equal labels the first by number wins, so ties go
  // on; but not at 0, where whole trees may be tied.
  bool useful(const ScoredNode& node) const {
    if (static_cast<int>(found_.size()) < k_) return node.probability >= threshold_;
    const auto value = ranking_.value(node), worst = ranking_.value(found_.front());
    const bool good = value > worst || (value == worst && value > 0);
    // By probability, what is as good as a label that was kept reaches the threshold, as that does.
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

  int k_ = 0;
  float threshold_ = 0;
  Ranking ranking_;
};

// All labels with at least their threshold, in no order. node_threshold[v]: the smallest below v; if it is
// null, `threshold` is that of all.
template <class Tree = LabelTreeView>
class ThresholdSearch : public StepwiseSearch<Tree> {
  using Base = StepwiseSearch<Tree>;
  using Base::allowed, Base::begin, Base::current_, Base::found_, Base::tree_, Base::waiting_;

 public:
  void start(const Tree& tree, const uint8_t* mask, float root, const float* node_threshold,
             float threshold) {
    begin(tree, mask);
    node_threshold_ = node_threshold;
    threshold_ = threshold;
    if (allowed(0) && reaches(0, root)) waiting_.push_back({root, 0});
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

// Level by level, only the `beam` best inner nodes go on; then the k best labels with at least `threshold`.
template <class Tree = LabelTreeView, class Ranking = ByProbability>
class BeamSearch : public StepwiseSearch<Tree> {
  using Base = StepwiseSearch<Tree>;
  using Base::allowed, Base::begin, Base::current_, Base::found_, Base::tree_, Base::waiting_;

 public:
  void start(const Tree& tree, const uint8_t* mask, float root, int k, int beam, float threshold,
             const Ranking& ranking = {}) {
    begin(tree, mask);
    k_ = k;
    beam_ = beam;
    threshold_ = threshold;
    ranking_ = ranking;
    level_.clear();
    at_ = 0;
    if (allowed(0)) waiting_.push_back({root, 0});
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

  int k_ = 0, beam_ = 0;
  float threshold_ = 0;
  Ranking ranking_;
  std::vector<ScoredNode> level_;
  size_t at_ = 0;
};

}  // namespace labeltree
