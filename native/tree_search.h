// Finding the best labels of one example in one tree: algorithms 3 and 4 of the paper, and beam search.
#pragma once

#include <cstdint>
#include <vector>

#include "block_store.h"

namespace labeltree {

struct ScoredLabel {
  float probability;
  int32_t label;

  // Better first; equal ones by label.
  bool operator<(const ScoredLabel& other) const {
    return probability != other.probability ? probability > other.probability : label < other.label;
  }
};

struct ScoredNode {
  float probability;
  int32_t node;

  // As std::priority_queue wants it: the best is the largest; equal ones in node order.
  bool operator<(const ScoredNode& other) const {
    return probability != other.probability ? probability < other.probability : node > other.node;
  }
};

// Searches one tree for one query at a time and remembers the blocks it has expanded for it. Not shared
// between threads; the store is.
class TreeSearch {
 public:
  explicit TreeSearch(const BlockStore& store);

  // Forgets the last query. `allowed`, if not null, has a flag per node: some label below it may be
  // predicted.
  void start(const FeatureRow& query, bool normalize_siblings, const uint8_t* allowed);

  // The k best labels with at least the probability `threshold`, best first (uniform-cost search with the
  // k-th best as bound). There are fewer than k only where the tree has no more.
  void top_k(int k, float threshold, std::vector<ScoredLabel>& out);

  // All labels with at least their threshold, in no order. node_threshold[v]: the smallest below v.
  void above(const float* node_threshold, std::vector<ScoredLabel>& out);
  void above(float threshold, std::vector<ScoredLabel>& out);

  // Level by level, only the `beam` best inner nodes go on.
  void beam(int k, int beam, float threshold, std::vector<ScoredLabel>& out);

  // The product along the path.
  float probability(int32_t label);

  // Labels one by one, best first; returns false when there are no more. start_enumeration() begins anew.
  void start_enumeration();
  bool next(ScoredLabel& out);

  // Calls of node classifiers since start().
  int64_t n_evaluations() const { return n_evaluations_; }

 private:
  // The probabilities of a block's columns given their parent's, computed once per query.
  const float* expand(int32_t block);
  bool allowed(int32_t node) const { return allowed_ == nullptr || allowed_[node]; }
  template <class Threshold>
  void above_impl(const Threshold& threshold, std::vector<ScoredLabel>& out);

  const BlockStore& store_;
  const FeatureRow* query_ = nullptr;
  const uint8_t* allowed_ = nullptr;
  bool normalize_siblings_ = false;
  int64_t n_evaluations_ = 0;

  std::vector<uint32_t> expanded_at_;  // per block: the query it was expanded for
  std::vector<int64_t> offset_;        // and where its probabilities are
  uint32_t query_number_ = 0;
  std::vector<float> probabilities_;
  std::vector<ScoredNode> queue_, level_;
  std::vector<int32_t> path_;
};

// Per node: the smallest value of the labels below it.
std::vector<float> subtree_minimum(const BlockStore& store, const float* value_of_label);

// Per node: whether some label below it is allowed.
std::vector<uint8_t> subtree_any(const BlockStore& store, const uint8_t* label_allowed);

// Keeps the k best, best first.
void keep_best(int64_t k, std::vector<ScoredLabel>& labels);

}  // namespace labeltree
