// One example asking one tree: the blocks it has expanded so far, and labels and paths found with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "search/ranking.h"

namespace labeltree {

// Searches one tree for one query at a time and remembers the blocks it has expanded for it. Not shared
// between threads; the store is, which must not change from start() to the last question about a query.
//
// A store (BlockStore, OnlineTree) is a tree with its node classifiers in blocks. It has a type Query, which
// read(features, row, query) makes of a row, and knows n_blocks(), n_columns(block), block_of(node), where
// block 0 is that of the root itself, leaf_of(label), parent(node), probabilities(block, query,
// normalize_siblings, out), and tree(), a view that is copied: n_labels, n_children(node), child(node, i),
// place_of(parent, child), is_leaf(node) and label_of(leaf).
template <class Store>
class TreeSearch {
 public:
  using Query = typename Store::Query;

  explicit TreeSearch(const Store& store) : store_(store) {}

  // Forgets the last query. `allowed`, if not null, has a flag per node: some label below it may be
  // predicted.
  void start(const Query& query, bool normalize_siblings, const uint8_t* allowed) {
    query_ = &query;
    normalize_siblings_ = normalize_siblings;
    allowed_ = allowed;
    n_evaluations_ = 0;
    probabilities_.clear();
    const auto n_blocks = static_cast<size_t>(store_.n_blocks());
    if (expanded_at_.size() < n_blocks) {  // always at first; later if the tree has grown
      offset_.resize(n_blocks, 0);
      expanded_at_.resize(n_blocks, 0);  // last: if there is no memory, the next start() must see it
    }
    if (++query_number_ == 0) {  // after 2^32 queries the marks mean nothing
      std::fill(expanded_at_.begin(), expanded_at_.end(), 0);
      query_number_ = 1;
    }
  }

  const Store& store() const { return store_; }
  const Query& query() const { return *query_; }
  bool normalize_siblings() const { return normalize_siblings_; }
  const uint8_t* allowed() const { return allowed_; }

  // The probabilities of a block's columns given their parent's, computed once per query.
  const float* expand(int32_t block) {
    if (is_expanded(block)) return probabilities_.data() + offset_[block];
    float* p = place(block);
    store_.probabilities(block, *query_, normalize_siblings_, p);
    return p;
  }

  // Where those of a block that is not expanded yet are to be written; from then on it counts as expanded.
  float* place(int32_t block) {
    const int32_t n = store_.n_columns(block);
    const size_t offset = probabilities_.size();
    probabilities_.resize(offset + n);
    n_evaluations_ += n;
    expanded_at_[block] = query_number_;
    offset_[block] = static_cast<int64_t>(offset);
    return probabilities_.data() + offset;
  }

  bool is_expanded(int32_t block) const { return expanded_at_[block] == query_number_; }

  // The product along the path.
  float probability(int32_t label) {
    path_.clear();
    for (int32_t node = store_.leaf_of(label); node != 0; node = store_.parent(node)) path_.push_back(node);
    // From the root down, as the searches multiply: the same product to the last bit.
    const auto tree = store_.tree();
    float product = expand(0)[0];
    int32_t parent = 0;
    for (auto node = path_.rbegin(); node != path_.rend(); ++node) {
      product *= expand(store_.block_of(parent))[tree.place_of(parent, *node)];
      parent = *node;
    }
    return product;
  }

  // Labels one by one, best first; next() returns false when there are no more. start_enumeration() starts
  // again.
  void start_enumeration() {
    queue_.clear();
    if (store_.tree().n_labels > 0 && allowed(0)) queue_.push_back({expand(0)[0], 0});
  }
  bool next(ScoredLabel& out) {
    const auto tree = store_.tree();
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      const ScoredNode top = queue_.back();
      queue_.pop_back();
      if (tree.is_leaf(top.node)) {
        out = {top.probability, tree.label_of(top.node)};
        return true;
      }
      const float* p = expand(store_.block_of(top.node));
      const int32_t n = tree.n_children(top.node);
      for (int32_t i = 0; i < n; ++i) {
        const int32_t child = tree.child(top.node, i);
        if (!allowed(child)) continue;
        queue_.push_back({top.probability * p[i], child});
        std::push_heap(queue_.begin(), queue_.end());
      }
    }
    return false;
  }
  // No label that next() has not given yet is more probable than this; -1 if there is none.
  float bound_of_next() const { return queue_.empty() ? -1.0f : queue_.front().probability; }

  // Calls of node classifiers since start().
  int64_t n_evaluations() const { return n_evaluations_; }

 private:
  bool allowed(int32_t node) const { return allowed_ == nullptr || allowed_[node]; }

  const Store& store_;
  const Query* query_ = nullptr;
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

}  // namespace labeltree
