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
  if (expanded_at_[block] == query_number_) return probabilities_.data() + offset_[block];
  const int32_t n = store_.n_columns(block);
  const size_t offset = probabilities_.size();
  probabilities_.resize(offset + n);
  float* p = probabilities_.data() + offset;
  store_.probabilities(block, *query_, normalize_siblings_, p);
  n_evaluations_ += n;
  expanded_at_[block] = query_number_;
  offset_[block] = static_cast<int64_t>(offset);
  return p;
}

void TreeSearch::top_k(int k, float threshold, std::vector<ScoredLabel>& out) {
  const LabelTreeView& tree = store_.tree();
  out.clear();  // a heap with the worst of the best on top
  queue_.clear();
  // A node is of use if it can still change the answer. Of equal labels the first by number wins, so ties go
  // on; but not at 0, where whole trees may be tied.
  const auto useful = [&](float p) {
    if (static_cast<int>(out.size()) < k) return p >= threshold;
    return p > out.front().probability || (p == out.front().probability && p > 0);
  };
  const float root = expand(0)[0];
  if (k > 0 && allowed(0) && useful(root)) queue_.push_back({root, 0});
  while (!queue_.empty() && useful(queue_.front().probability)) {
    std::pop_heap(queue_.begin(), queue_.end());
    const ScoredNode top = queue_.back();
    queue_.pop_back();
    const float* p = expand(store_.block_of(top.node));
    const int32_t first = tree.child_begin[top.node], last = tree.child_begin[top.node + 1];
    for (int32_t child = first; child < last; ++child) {
      const float probability = top.probability * p[child - first];
      if (!useful(probability) || !allowed(child)) continue;
      if (!tree.is_leaf(child)) {
        queue_.push_back({probability, child});
        std::push_heap(queue_.begin(), queue_.end());
        continue;
      }
      out.push_back({probability, tree.label[child]});
      std::push_heap(out.begin(), out.end());
      if (static_cast<int>(out.size()) > k) {
        std::pop_heap(out.begin(), out.end());
        out.pop_back();
      }
    }
  }
  std::sort(out.begin(), out.end());
}

template <class Threshold>
void TreeSearch::above_impl(const Threshold& threshold, std::vector<ScoredLabel>& out) {
  const LabelTreeView& tree = store_.tree();
  out.clear();
  queue_.clear();
  const float root = expand(0)[0];
  if (allowed(0) && root >= threshold(0)) queue_.push_back({root, 0});
  while (!queue_.empty()) {
    const ScoredNode top = queue_.back();
    queue_.pop_back();
    const float* p = expand(store_.block_of(top.node));
    const int32_t first = tree.child_begin[top.node], last = tree.child_begin[top.node + 1];
    for (int32_t child = first; child < last; ++child) {
      const float probability = top.probability * p[child - first];
      if (!(probability >= threshold(child)) || !allowed(child)) continue;
      if (tree.is_leaf(child)) {
        out.push_back({probability, tree.label[child]});
      } else {
        queue_.push_back({probability, child});
      }
    }
  }
}

void TreeSearch::above(const float* node_threshold, std::vector<ScoredLabel>& out) {
  above_impl([=](int32_t node) { return node_threshold[node]; }, out);
}

void TreeSearch::above(float threshold, std::vector<ScoredLabel>& out) {
  above_impl([=](int32_t) { return threshold; }, out);
}

void TreeSearch::beam(int k, int beam, float threshold, std::vector<ScoredLabel>& out) {
  const LabelTreeView& tree = store_.tree();
  out.clear();
  level_.clear();
  const float root = expand(0)[0];
  if (allowed(0)) level_.push_back({root, 0});
  while (!level_.empty()) {
    queue_.clear();
    for (const ScoredNode& node : level_) {
      const float* p = expand(store_.block_of(node.node));
      const int32_t first = tree.child_begin[node.node], last = tree.child_begin[node.node + 1];
      for (int32_t child = first; child < last; ++child) {
        if (!allowed(child)) continue;
        const float probability = node.probability * p[child - first];
        if (!tree.is_leaf(child)) {
          queue_.push_back({probability, child});
        } else if (probability >= threshold) {
          out.push_back({probability, tree.label[child]});
        }
      }
    }
    if (static_cast<int64_t>(queue_.size()) > beam) {
      std::nth_element(queue_.begin(), queue_.begin() + beam, queue_.end(),
                       [](const ScoredNode& a, const ScoredNode& b) { return b < a; });
      queue_.resize(beam);
    }
    std::swap(level_, queue_);
  }
  keep_best(k, out);
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

std::vector<float> subtree_minimum(const BlockStore& store, const float* value_of_label) {
  const LabelTreeView& tree = store.tree();
  std::vector<float> minimum(tree.n_nodes);
  for (int32_t v = tree.n_nodes - 1; v >= 0; --v) {  // children have larger numbers than their parent
    minimum[v] = tree.is_leaf(v) ? value_of_label[tree.label[v]]
                                 : *std::min_element(minimum.begin() + tree.child_begin[v],
                                                     minimum.begin() + tree.child_begin[v + 1]);
  }
  return minimum;
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

void keep_best(int64_t k, std::vector<ScoredLabel>& labels) {
  if (static_cast<int64_t>(labels.size()) > k) {
    std::nth_element(labels.begin(), labels.begin() + k, labels.end());
    labels.resize(k);
  }
  std::sort(labels.begin(), labels.end());
}

}  // namespace labeltree
