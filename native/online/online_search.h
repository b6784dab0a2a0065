// What an online tree is asked, by the same strategies as a trained one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/feature_matrix.h"
#include "core/progress.h"
#include "online/online_tree.h"
#include "search/beam_search.h"
#include "search/search.h"
#include "search/threshold_search.h"
#include "search/top_k_search.h"

namespace labeltree {

// One row after another against a tree that does not change meanwhile. Not shared between threads.
class OnlineSearch {
 public:
  // node_allowed and node_weight: the largest of the values below each node, where `search` has such values
  // of labels; else null. The search must outlive this object.
  OnlineSearch(const OnlineTree& tree, const Search& search, const uint8_t* node_allowed = nullptr,
               const double* node_weight = nullptr)
      : tree_(tree), search_(search), node_allowed_(node_allowed), worth_{search.label_weight, node_weight} {}

  // Both give labels best first.
  void top_k(const FeatureRow& row, std::vector<ScoredLabel>& out);
  // node_threshold as in ThresholdSearch.
  void above(const FeatureRow& row, const float* node_threshold, std::vector<ScoredLabel>& out);
  // The products along the paths of labels.
  void pairs(const FeatureRow& row, const int32_t* labels, int64_t n, float* probabilities);

  // Calls of node classifiers for the last row.
  int64_t n_evaluations() const { return n_evaluations_; }

  // For all rows, as in Forest. There is one tree: missing_as_zero changes nothing.
  static void top_k(const OnlineTree& tree, const FeatureMatrix& features, const Search& search,
                    int32_t* labels, float* probabilities, int64_t* evaluations, Progress* progress);
  static std::vector<std::vector<ScoredLabel>> above(const OnlineTree& tree, const FeatureMatrix& features,
                                                     const Search& search, int64_t* evaluations);
  static void pairs(const OnlineTree& tree, const FeatureMatrix& features, const int64_t* rows,
                    const int32_t* labels, int64_t n, const Search& search, float* probabilities);
  // All labels of one row, best first, as the tree is now.
  static std::vector<ScoredLabel> ranked(const OnlineTree& tree, const FeatureMatrix& features, int64_t row,
                                         const Search& search);

 private:
  template <class Ranking>
  void top_k(TopKSearch<OnlineTreeView, Ranking>& exact, BeamSearch<OnlineTreeView, Ranking>& beam,
             const Ranking& ranking, const FeatureRow& row, std::vector<ScoredLabel>& out);
  template <class Strategy, class... Wishes>
  void search(Strategy& strategy, const FeatureRow& row, Wishes... wishes);
  float start(const FeatureRow& row);
  const float* expand(int32_t node);

  bool answer_of_root(const FeatureRow& row, const float* node_threshold, std::vector<ScoredLabel>& out);

  const OnlineTree& tree_;
  const Search& search_;
  const uint8_t* node_allowed_;
  ByWorth worth_;
  Example x_;
  std::vector<float> probabilities_;
  int64_t n_evaluations_ = 0;
  TopKSearch<OnlineTreeView> top_k_;
  TopKSearch<OnlineTreeView, ByWorth> top_k_by_worth_;
  ThresholdSearch<OnlineTreeView> above_;
  BeamSearch<OnlineTreeView> beam_;
  BeamSearch<OnlineTreeView, ByWorth> beam_by_worth_;
};

// Per node, from per label: combine(value of a node, value of a child) over all below it.
template <class T, class Combine>
std::vector<T> over_subtrees(const OnlineTree& tree, const T* of_label, T neutral, const Combine& combine) {
  std::vector<int32_t> order(1, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& children = tree.children(order[i]);
    order.insert(order.end(), children.begin(), children.end());
  }
  std::vector<T> value(tree.n_nodes(), neutral);
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    if (tree.label(*v) >= 0) value[*v] = of_label[tree.label(*v)];
    const int32_t parent = tree.parent(*v);
    if (parent >= 0) value[parent] = combine(value[parent], value[*v]);
  }
  return value;
}

}  // namespace labeltree
