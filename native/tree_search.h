// One example asking one tree: the blocks it has expanded so far, and labels and paths found with them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "block_store.h"
#include "search_strategies.h"

namespace labeltree {

// Searches one tree for one query at a time and remembers the blocks it has expanded for it. Not shared
// between threads; the store is.
class TreeSearch {
 public:
  explicit TreeSearch(const BlockStore& store);

  // Forgets the last query. `allowed`, if not null, has a flag per node: some label below it may be
  // predicted.
  void start(const FeatureRow& query, bool normalize_siblings, const uint8_t* allowed);

  const BlockStore& store() const { return store_; }
  const FeatureRow& query() const { return *query_; }
  bool normalize_siblings() const { return normalize_siblings_; }
  const uint8_t* allowed() const { return allowed_; }

  // The probabilities of a block's columns given their parent's, computed once per query.
  const float* expand(int32_t block);
  // Where those of a block that is not expanded yet are to be written; from then on it counts as expanded.
  float* place(int32_t block);
  bool is_expanded(int32_t block) const { return expanded_at_[block] == query_number_; }

  // The product along the path.
  float probability(int32_t label);

  // Labels one by one, best first; returns false when there are no more. start_enumeration() begins anew.
  void start_enumeration();
  bool next(ScoredLabel& out);

  // Calls of node classifiers since start().
  int64_t n_evaluations() const { return n_evaluations_; }

 private:
  bool allowed(int32_t node) const { return allowed_ == nullptr || allowed_[node]; }

  const BlockStore& store_;
  const FeatureRow* query_ = nullptr;
  const uint8_t* allowed_ = nullptr;
  bool normalize_siblings_ = false;
  int64_t n_evaluations_ = 0;

  std::vector<uint32_t> expanded_at_;  // per block: the query it was expanded for
  std::vector<int64_t> offset_;        // and where its probabilities are
  uint32_t query_number_ = 0;
  std::vector<float> probabilities_;
  std::vector<ScoredNode> queue_;
  std::vector<int32_t> path_;
};

// Searches by a strategy, which start(strategy, tree, allowed, root) starts.
template <class Strategy, class Start>
void search_alone(TreeSearch& search, Strategy& strategy, const Start& start) {
  const BlockStore& store = search.store();
  start(strategy, store.tree(), search.allowed(), search.expand(0)[0]);
  while (strategy.wanted() >= 0) strategy.give(search.expand(store.block_of(strategy.wanted())));
}

// Searches of the same tree that go side by side, each by its own strategy. In every round each names the
// block it wants next, and a block that several want is scored for all of them at once: with dense features
// that is a product of matrices, which reads the weights once.
template <class Strategy>
class SideBySide {
 public:
  void add(TreeSearch& search, Strategy& strategy) { searches_.push_back({&search, &strategy}); }

  template <class Start>
  void run(const Start& start) {
    wanted_.clear();
    for (auto& pair : searches_) wanted_.push_back({0, pair});
    for (bool first = true; !wanted_.empty(); first = false) {
      expand_wanted();
      size_t n_left = 0;
      for (const Wanted& w : wanted_) {
        auto [search, strategy] = w.pair;
        const float* p = search->expand(w.block);
        if (first) {
          start(*strategy, search->store().tree(), search->allowed(), p[0]);
        } else {
          strategy->give(p);
        }
        if (strategy->wanted() < 0) continue;
        wanted_[n_left++] = {search->store().block_of(strategy->wanted()), w.pair};
      }
      wanted_.resize(n_left);
    }
  }

 private:
  using Pair = std::pair<TreeSearch*, Strategy*>;
  struct Wanted {
    int32_t block;
    Pair pair;
  };

  void expand_wanted() {
    std::sort(wanted_.begin(), wanted_.end(),
              [](const Wanted& a, const Wanted& b) { return a.block < b.block; });
    for (size_t begin = 0, end; begin < wanted_.size(); begin = end) {
      const int32_t block = wanted_[begin].block;
      queries_.clear();
      places_.clear();
      for (end = begin; end < wanted_.size() && wanted_[end].block == block; ++end) {
        TreeSearch& search = *wanted_[end].pair.first;
        if (search.is_expanded(block)) continue;
        queries_.push_back(&search.query());
        places_.push_back(search.place(block));
      }
      const TreeSearch& any = *wanted_[begin].pair.first;
      any.store().probabilities(block, queries_, any.normalize_siblings(), places_);
    }
  }

  std::vector<Pair> searches_;
  std::vector<Wanted> wanted_;
  std::vector<const FeatureRow*> queries_;
  std::vector<float*> places_;
};

// Per node: the smallest value of the labels below it.
std::vector<float> subtree_minimum(const BlockStore& store, const float* value_of_label);

// Per node: the largest value of the labels below it.
std::vector<double> subtree_maximum(const BlockStore& store, const double* value_of_label);

// Per node: whether some label below it is allowed.
std::vector<uint8_t> subtree_any(const BlockStore& store, const uint8_t* label_allowed);

}  // namespace labeltree
