#include "search/tree_search.h"

#include <algorithm>

namespace labeltree {

TreeSearch::TreeSearch(const BlockStore& store)
    : store_(store), expanded_at_(store.n_blocks(), 0), offset_(store.n_blocks(), 0) {}

void TreeSearch::start(const FeatureRow& query, bool normalize_siblings, const uint8_t* allowed) {
  query_ = &query;
  normalize_siblings_ = normalize_siblings;
  allowed_ = allowed;
  n_evaluations_ = 0;
  probabilities_.clear();
  if (++query_number_ == 0) {  // after 2^32 queries the marks mean nothing
    std::fill(expanded_at_.begin(), expanded_at_.end(), 0);
    query_number_ = 1;
  }
}

const float* TreeSearch::expand(int32_t block) {
  if (is_expanded(block)) return probabilities_.data() + offset_[block];
  float* p = place(block);
  store_.probabilities(block, *query_, normalize_siblings_, p);
  return p;
}

float* TreeSearch::place(int32_t block) {
  const int32_t n = store_.n_columns(block);
  const size_t offset = probabilities_.size();
  probabilities_.resize(offset + n);
  n_evaluations_ += n;
  expanded_at_[block] = query_number_;
  offset_[block] = static_cast<int64_t>(offset);
  return probabilities_.data() + offset;
}

float TreeSearch::probability(int32_t label) {
  path_.clear();
  for (int32_t node = store_.leaf_of(label); node != 0; node = store_.parent(node)) path_.push_back(node);
  // From the root down, as the searches multiply: the same product to the last bit.
  float product = expand(0)[0];
  int32_t parent = 0;
  for (auto node = path_.rbegin(); node != path_.rend(); ++node) {
    product *= expand(store_.block_of(parent))[*node - store_.tree().child_begin[parent]];
    parent = *node;
  }
  return product;
}

void TreeSearch::start_enumeration() {
  queue_.clear();
  if (allowed(0)) queue_.push_back({expand(0)[0], 0});
}

bool TreeSearch::next(ScoredLabel& out) {
  const LabelTreeView& tree = store_.tree();
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end());
    const ScoredNode top = queue_.back();
    queue_.pop_back();
    if (tree.is_leaf(top.node)) {
      out = {top.probability, tree.label[top.node]};
      return true;
    }
    const float* p = expand(store_.block_of(top.node));
    const int32_t first = tree.child_begin[top.node], last = tree.child_begin[top.node + 1];
    for (int32_t child = first; child < last; ++child) {
      if (!allowed(child)) continue;
      queue_.push_back({top.probability * p[child - first], child});
      std::push_heap(queue_.begin(), queue_.end());
    }
  }
  return false;
}

}  // namespace labeltree
