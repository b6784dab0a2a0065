// The k best labels of several trees by their average: Fagin's threshold algorithm over trees that are
// searched best first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "search/label_paths.h"
#include "search/ranking.h"
#include "search/search.h"
#include "search/tree_average.h"
#include "search/tree_search.h"

namespace labeltree {

// Goes on where the trees' own searches end. A label is *met* once its average is known or cannot matter. The
// *open* entries of a tree are the children in expanded blocks that are not expanded themselves: inner nodes,
// and leaves of labels that were not met. A label that was not met is below an open entry of every tree, so
// its average is at most the mean of the best open entries. The search ends when this bound is worse than the
// k-th best label.
//
// A label with an average of at least the threshold reaches the threshold in some tree. So only entries that
// reach it are searched. The other entries of a tree count in the bound, but not for more than the best entry
// that is searched: a label is worth more to the tree in which it reaches the threshold.
template <class Store, class Ranking>
class JointSearch {
 public:
  // Replaces the labels that the trees propose by the k best with at least the threshold, best first. There
  // is a ranking for each tree.
  void finish(const TreeAverage& average, std::vector<TreeSearch<Store>>& searches,
              const std::vector<Ranking>& rankings, const Search& search, std::vector<ScoredLabel>& labels) {
    average_ = &average;
    searches_ = &searches;
    rankings_ = &rankings;
    k_ = search.k;
    threshold_ = search.threshold;
    begin();
    meet_proposed(labels);
    for (size_t t = 0; t < trees_.size(); ++t) find_best(t);
    if (can_change(bound())) {
      for (size_t t = 0; t < trees_.size(); ++t) collect(t);
      while (can_change(bound())) advance(largest_tree());
    }
    std::sort(found_.begin(), found_.end(), rankings[0]);
    labels.swap(found_);
  }

 private:
  using Tree = std::remove_cvref_t<decltype(std::declval<const Store&>().tree())>;
  using Value = decltype(Ranking{}.value(ScoredLabel{}));
  // The open entries of a tree, best on top of the heap, and their best values.
  struct OpenTree {
    std::vector<ScoredNode> heap;
    Value best;
    Value best_below_threshold;
    Value either() const { return std::max(best, best_below_threshold); }
  };
  static constexpr Value kNone = -1;  // worse than all values

  void begin() {
    trees_.resize(searches_->size());
    values_.resize(searches_->size());
    found_.clear();
    const auto n_labels = static_cast<size_t>((*searches_)[0].store().tree().n_labels);
    if (met_.size() < n_labels) met_.resize(n_labels, 0);  // online trees grow
    if (++query_number_ == 0) {                            // as in TreeSearch
      std::fill(met_.begin(), met_.end(), 0);
      query_number_ = 1;
    }
  }

  bool is_full() const { return static_cast<int64_t>(found_.size()) >= k_; }
  Value worst() const { return (*rankings_)[0].value(found_.front()); }

  // Whether labels with at most this value can be among the k best. As in TopKSearch ties go on, but not at
  // 0.
  bool can_change(Value value) const {
    if constexpr (std::is_same_v<Ranking, ByProbability>) {
      if (value < threshold_) return false;
    }
    if (!is_full()) return value >= 0;
    return value > worst() || (value == worst() && value > 0);
  }
  bool can_change(const ScoredLabel& label) const {
    return label.probability >= threshold_ && can_change((*rankings_)[0].value(label));
  }

  // Whether the label was met before; now it is.
  bool was_met(int32_t label) { return std::exchange(met_[label], query_number_) == query_number_; }

  bool is_met(const Tree& tree, int32_t node) const {
    return tree.is_leaf(node) && met_[tree.label_of(node)] == query_number_;
  }

  void meet_proposed(std::vector<ScoredLabel>& labels) {
    std::erase_if(labels, [&](const ScoredLabel& s) { return was_met(s.label); });
    // The most promising first: when k labels are found, most of the others need no more blocks.
    for (ScoredLabel& s : labels) s.probability = paths_.start(*average_, *searches_, s.label);
    std::sort(labels.begin(), labels.end(), (*rankings_)[0]);
    for (const ScoredLabel& s : labels) {
      if (can_change(s)) meet(s.label);
    }
  }

  // Finds the average of a label, unless it is clear on the way that it cannot matter.
  void meet(int32_t label) {
    ScoredLabel scored{paths_.start(*average_, *searches_, label), label};
    while (can_change(scored)) {
      if (paths_.are_walked()) {
        add(scored);
        return;
      }
      scored.probability = paths_.go_on();
    }
  }

  void add(const ScoredLabel& scored) {
    found_.push_back(scored);  // a heap with the worst of the best on top
    push_ranked(found_, (*rankings_)[0]);
    if (static_cast<int64_t>(found_.size()) <= k_) return;
    pop_ranked(found_, (*rankings_)[0]);
    found_.pop_back();
  }

  // Calls visit(entry, value) for the open entries of a tree. Leaves out those for which matters(entry,
  // value) is false, and everything below: it is false for worse entries too.
  template <class Matters, class Visit>
  void visit_open(size_t t, const Matters& matters, const Visit& visit) {
    TreeSearch<Store>& search = (*searches_)[t];
    const Store& store = search.store();
    const Tree tree = store.tree();
    const auto open = [&](const ScoredNode& entry) {
      const Value value = (*rankings_)[t].value(entry);
      if (!matters(entry, value) || !is_allowed(search, entry.node)) return;
      if (!tree.is_leaf(entry.node) && search.is_expanded(store.block_of(entry.node))) {
        expanded_.push_back(entry);
      } else if (!is_met(tree, entry.node)) {
        visit(entry, value);
      }
    };
    expanded_.clear();
    open({search.expand(0)[0], 0});
    while (!expanded_.empty()) {
      const ScoredNode parent = expanded_.back();
      expanded_.pop_back();
      if (!matters(parent, (*rankings_)[t].value(parent))) continue;
      const float* p = search.expand(store.block_of(parent.node));
      const int32_t n = tree.n_children(parent.node);
      for (int32_t i = 0; i < n; ++i) open({parent.probability * p[i], tree.child(parent.node, i)});
    }
  }

  static bool is_allowed(const TreeSearch<Store>& search, int32_t node) {
    return search.allowed() == nullptr || search.allowed()[node];
  }

  void find_best(size_t t) {
    OpenTree& tree = trees_[t];
    tree.best = tree.best_below_threshold = kNone;
    visit_open(
        t,
        [&](const ScoredNode& entry, Value value) {
          return value > (entry.probability >= threshold_ ? tree.best : tree.either());
        },
        [&](const ScoredNode& entry, Value value) {
          (entry.probability >= threshold_ ? tree.best : tree.best_below_threshold) = value;
        });
  }

  // Puts the entries that matter into the heap.
  void collect(size_t t) {
    OpenTree& tree = trees_[t];
    const double least = least_value(t);
    tree.heap.clear();
    tree.best_below_threshold = kNone;
    visit_open(
        t, [&](const ScoredNode&, Value value) { return value >= least; },
        [&](const ScoredNode& entry, Value value) { keep(tree, entry, value); });
    std::make_heap(tree.heap.begin(), tree.heap.end(), (*rankings_)[t]);
    find_top(t);
  }

  // The best value is that of the best entry in the heap that was not met.
  void find_top(size_t t) {
    OpenTree& tree = trees_[t];
    const Ranking& ranking = (*rankings_)[t];
    const Tree view = (*searches_)[t].store().tree();
    while (!tree.heap.empty() && is_met(view, tree.heap.front().node)) pop(tree, ranking);
    tree.best = tree.heap.empty() ? kNone : ranking.value(tree.heap.front());
  }

  // Whether the entry is at the end of the heap now.
  bool keep(OpenTree& tree, const ScoredNode& entry, Value value) {
    const bool reaches = entry.probability >= threshold_;
    if (reaches) {
      tree.heap.push_back(entry);
    } else {
      tree.best_below_threshold = std::max(tree.best_below_threshold, value);
    }
    return reaches;
  }

  // A label below an entry of tree t with less than this value is worse than the k-th best, even if it is
  // below the best open entries of the other trees. A bit less, because of rounding.
  double least_value(size_t t) const {
    if (!is_full()) return 0;
    double least = (*rankings_)[0].least_mean(worst()) * average_->total();
    for (size_t s = 0; s < trees_.size(); ++s) {
      if (s != t) least -= average_->weight(s) * trees_[s].either();
    }
    return std::max(least / average_->weight(t), 0.0);
  }

  // No label that was not met is better than this; kNone if there is none that reaches the threshold.
  Value bound() {
    Value best = kNone;
    for (const OpenTree& tree : trees_) {
      if (tree.either() < 0) return kNone;
      best = std::max(best, tree.best);
    }
    if (best < 0) return kNone;
    for (size_t t = 0; t < trees_.size(); ++t) values_[t] = std::min(best, trees_[t].either());
    return (*rankings_)[0].bound(average_->mean(values_));
  }

  // The tree whose best entry adds most to the bound.
  size_t largest_tree() const {
    size_t largest = 0;
    for (size_t t = 1; t < trees_.size(); ++t) {
      if (average_->weight(t) * trees_[t].best > average_->weight(largest) * trees_[largest].best)
        largest = t;
    }
    return largest;
  }

  // Meets the label of the best entry of a tree, or expands its node.
  void advance(size_t t) {
    TreeSearch<Store>& search = (*searches_)[t];
    const Store& store = search.store();
    const Tree view = store.tree();
    const Ranking& ranking = (*rankings_)[t];
    OpenTree& tree = trees_[t];
    const ScoredNode top = pop(tree, ranking);
    if (!view.is_leaf(top.node)) {
      const float* p = search.expand(store.block_of(top.node));
      const double least = least_value(t);
      const int32_t n = view.n_children(top.node);
      for (int32_t i = 0; i < n; ++i) {
        const ScoredNode entry{top.probability * p[i], view.child(top.node, i)};
        const Value value = ranking.value(entry);
        if (value >= least && is_allowed(search, entry.node) && keep(tree, entry, value)) {
          std::push_heap(tree.heap.begin(), tree.heap.end(), ranking);
        }
      }
    } else if (!was_met(view.label_of(top.node))) {
      meet(view.label_of(top.node));
    }
    find_top(t);
  }

  static ScoredNode pop(OpenTree& tree, const Ranking& ranking) {
    std::pop_heap(tree.heap.begin(), tree.heap.end(), ranking);
    const ScoredNode top = tree.heap.back();
    tree.heap.pop_back();
    return top;
  }

  const TreeAverage* average_ = nullptr;
  std::vector<TreeSearch<Store>>* searches_ = nullptr;
  const std::vector<Ranking>* rankings_ = nullptr;
  int64_t k_ = 0;
  float threshold_ = 0;
  std::vector<OpenTree> trees_;
  LabelPaths<Store> paths_;
  std::vector<ScoredLabel> found_;
  std::vector<ScoredNode> expanded_;
  std::vector<double> values_;  // per tree
  std::vector<uint32_t> met_;   // per label: the query that it was met for
  uint32_t query_number_ = 0;
};

}  // namespace labeltree
