// The k best labels of many rows of one tree, in rounds, so that rows share blocks while these are in cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/feature_matrix.h"
#include "core/interruption.h"
#include "core/progress.h"
#include "model/block_store.h"
#include "search/ranking.h"
#include "search/search.h"

namespace labeltree {

// A TopKSearch expands the nodes that are not worse than the k-th best label, best first. Which nodes these
// are does not depend on the order, nor does the answer, as long as the k-th best is worth more than 0. So
// here each row names several of its best open nodes in every round, twice as many as in the last. The blocks
// are then scored one after another, each for all rows that want it. While little is known of the k-th best,
// some nodes are expanded that a TopKSearch would not expand. So a row that has found no label yet names one
// node: in a deep tree it would else expand all of the tree on the way to its first leaf.
//
// Worthless nodes and labels are passed over. Where they would be part of an answer, which of them are found
// depends on the order: such a row is not answered here.
template <class Ranking>
class BatchSearch {
 public:
  explicit BatchSearch(const BlockStore& store) : store_(store), begin_(store.n_blocks() + 1) {
    int32_t most = 1;
    for (int32_t b = 0; b < store.n_blocks(); ++b) most = std::max(most, store.n_columns(b));
    scores_.resize(most);
    children_.resize(most);
  }

  // Searches for rows [first, first + n). `allowed`, if not null, has a flag per node; n_allowed is the
  // number of labels that may be found. `progress` may be null.
  void run(const FeatureMatrix& features, int64_t first, int64_t n, const Search& search,
           const uint8_t* allowed, int64_t n_allowed, const Ranking& ranking, const Progress* progress) {
    search_ = &search;
    allowed_ = allowed;
    n_allowed_ = n_allowed;
    ranking_ = ranking;
    start(features, first, n);
    for (int round = 0; want(round < kRoundsOfOne); ++round) {
      if (progress != nullptr) progress->check();
      expand_wanted();
    }
  }

  // Whether a row is answered.
  bool is_answered(int64_t i) const {
    if (static_cast<int64_t>(rows_[i].found.size()) >= std::min(search_->k, n_allowed_)) return true;
    return std::is_same_v<Ranking, ByProbability> && search_->threshold > 0;
  }

  // The labels of a row, best first.
  const std::vector<ScoredLabel>& sorted(int64_t i) {
    std::sort(rows_[i].found.begin(), rows_[i].found.end(), ranking_);
    return rows_[i].found;
  }

  // The number of node classifiers that a TopKSearch takes; after sorted().
  int64_t n_evaluations(int64_t i) const {
    const Row& row = rows_[i];
    int64_t n = 1;
    for (const ScoredNode& node : row.expanded) {
      if (is_full(row) && ranking_.value(node) < ranking_.value(row.found.back())) continue;
      n += store_.tree().n_children(node.node);
    }
    return n;
  }

 private:
  static constexpr size_t kPairsBetweenChecks = 16;
  // Rounds after which rows that have found no label name more nodes too: each round takes time for itself.
  static constexpr int kRoundsOfOne = 32;
  static constexpr int64_t kMostInARound = 1 << 20;  // a tree may have more levels than a number has bits

  using Value = decltype(Ranking{}.value(ScoredLabel{}));
  struct Row {
    std::vector<ScoredNode> open, expanded;
    std::vector<ScoredLabel> found;  // a heap with the worst of the best on top
    int64_t limit = 1;               // how many nodes it names in the next round
  };
  struct Wanted {
    ScoredNode node;
    int32_t row;
  };

  void start(const FeatureMatrix& features, int64_t first, int64_t n) {
    n_rows_ = n;
    if (static_cast<int64_t>(rows_.size()) < n) rows_.resize(n);
    queries_.clear();
    query_begin_.assign(1, 0);
    for (int64_t i = 0; i < n; ++i) {
      features.append(first + i, queries_);
      query_begin_.push_back(static_cast<int64_t>(queries_.index.size()));
    }
    for (int64_t i = 0; i < n; ++i) {
      Row& row = rows_[i];
      row.open.clear();
      row.expanded.clear();
      row.found.clear();
      row.limit = 1;
      store_.probabilities(0, query(i), search_->normalize_siblings, scores_.data());
      const ScoredNode root{scores_[0], 0};
      if (search_->k > 0 && is_allowed(0) && is_useful(row, root)) row.open.push_back(root);
    }
  }

  RowView query(int64_t i) const {
    const int64_t begin = query_begin_[i];
    return {queries_.index.data() + begin, queries_.value.data() + begin,
            static_cast<size_t>(query_begin_[i + 1] - begin), nullptr};
  }

  bool is_allowed(int32_t node) const { return allowed_ == nullptr || allowed_[node]; }
  bool is_full(const Row& row) const { return static_cast<int64_t>(row.found.size()) >= search_->k; }

  bool is_useful(const Row& row, const ScoredNode& node) const {
    const Value value = ranking_.value(node);
    if (!(value > 0) || node.probability < search_->threshold) return false;
    return !is_full(row) || value >= ranking_.value(row.found.front());
  }

  // Lets every row name some of its best open nodes; one if `one_at_first` and it has found no label. Returns
  // whether there are any.
  bool want(bool one_at_first) {
    wanted_.clear();
    std::fill(begin_.begin(), begin_.end(), 0);
    for (int64_t i = 0; i < n_rows_; ++i) {
      Row& row = rows_[i];
      std::erase_if(row.open, [&](const ScoredNode& node) { return !is_useful(row, node); });
      const int64_t n_left = std::max(static_cast<int64_t>(row.open.size()) - row.limit, int64_t{0});
      if (!one_at_first || !row.found.empty()) row.limit = std::min(2 * row.limit, kMostInARound);
      if (n_left > 0) {
        std::nth_element(row.open.begin(), row.open.begin() + n_left, row.open.end(), ranking_);
      }
      for (auto node = row.open.begin() + n_left; node != row.open.end(); ++node) {
        wanted_.push_back({*node, static_cast<int32_t>(i)});
        ++begin_[store_.block_of(node->node) + 1];
        row.expanded.push_back(*node);
      }
      row.open.resize(n_left);
    }
    for (size_t b = 1; b < begin_.size(); ++b) begin_[b] += begin_[b - 1];
    by_block_.resize(wanted_.size());
    for (const Wanted& w : wanted_) by_block_[begin_[store_.block_of(w.node.node)]++] = w;
    return !wanted_.empty();
  }

  void expand_wanted() {
    for (size_t i = 0; i < by_block_.size(); ++i) {
      if (i % kPairsBetweenChecks == 0) stop_if_interrupted();
      const auto& [node, i_row] = by_block_[i];
      Row& row = rows_[i_row];
      if (!is_useful(row, node)) continue;
      const int32_t n = store_.probable(store_.block_of(node.node), query(i_row), search_->normalize_siblings,
                                        node.probability, least(row), scores_.data(), children_.data());
      const int32_t first = store_.tree().child_begin[node.node];
      float bound = least(row);
      for (int32_t c = 0; c < n; ++c) {
        const float probability = node.probability * children_[c].probability;
        if (probability < bound) continue;  // most of them
        accept(row, {probability, first + children_[c].column});
        bound = least(row);
      }
    }
  }

  // Less probable nodes are of no use to the row.
  float least(const Row& row) const {
    if constexpr (std::is_same_v<Ranking, ByProbability>) {
      if (is_full(row)) return row.found.front().probability;
    }
    return search_->threshold;
  }

  void accept(Row& row, const ScoredNode& node) {
    const LabelTreeView& tree = store_.tree();
    if (!is_useful(row, node) || !is_allowed(node.node)) return;
    if (!tree.is_leaf(node.node)) {
      row.open.push_back(node);
      return;
    }
    row.found.push_back({node.probability, tree.label[node.node]});
    push_ranked(row.found, ranking_);
    if (static_cast<int64_t>(row.found.size()) <= search_->k) return;
    pop_ranked(row.found, ranking_);
    row.found.pop_back();
  }

  const BlockStore& store_;
  const Search* search_ = nullptr;
  const uint8_t* allowed_ = nullptr;
  int64_t n_allowed_ = 0;
  Ranking ranking_;
  int64_t n_rows_ = 0;
  FeatureRow queries_;
  std::vector<int64_t> query_begin_;
  std::vector<Row> rows_;
  std::vector<int64_t> begin_;  // per block: where its wanted nodes are
  std::vector<Wanted> wanted_, by_block_;
  std::vector<float> scores_;
  std::vector<BlockStore::Child> children_;
};

}  // namespace labeltree
