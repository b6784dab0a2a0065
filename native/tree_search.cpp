#include "tree_search.h"

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

// best(begin, end): where the best of some values is.
template <class T, class Best>
static std::vector<T> best_below(const BlockStore& store, const T* value_of_label, const Best& best) {
  const LabelTreeView& tree = store.tree();
  std::vector<T> value(tree.n_nodes);
  for (int32_t v = tree.n_nodes - 1; v >= 0; --v) {  // children have larger numbers than their parent
    value[v] = tree.is_leaf(v)
                   ? value_of_label[tree.label[v]]
                   : *best(value.data() + tree.child_begin[v], value.data() + tree.child_begin[v + 1]);
  }
  return value;
}

std::vector<float> subtree_minimum(const BlockStore& store, const float* value_of_label) {
  return best_below(store, value_of_label, [](auto begin, auto end) { return std::min_element(begin, end); });
}

std::vector<double> subtree_maximum(const BlockStore& store, const double* value_of_label) {
  return best_below(store, value_of_label, [](auto begin, auto end) { return std::max_element(begin, end); });
}

std::vector<uint8_t> subtree_any(const BlockStore& store, const uint8_t* label_allowed) {
  const LabelTreeView& tree = store.tree();
  std::vector<uint8_t> any(tree.n_nodes, 0);
  for (int32_t v = tree.n_nodes - 1; v >= 0; --v) {
    if (tree.is_leaf(v)) any[v] = label_allowed[tree.label[v]];
    if (any[v] && v > 0) any[store.parent(v)] = 1;
  }
  return any;
}

}  // namespace labeltree
