// One example asking one tree: the blocks it has expanded so far, and labels and paths found with them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/block_store.h"
#include "search/ranking.h"

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

  // Labels one by one, best first; returns false when there are no more. start_enumeration() starts again.
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

}  // namespace labeltree
