// The trees of a model, asked together, for many examples at once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/feature_matrix.h"
#include "core/progress.h"
#include "model/block_store.h"
#include "search/beam_search.h"
#include "search/threshold_search.h"
#include "search/top_k_search.h"
#include "search/tree_search.h"

namespace labeltree {

struct SearchOptions {
  bool normalize_siblings = false;
  int beam = 0;                            // 0: exact search
  bool missing_as_zero = false;            // see Forest
  const uint8_t* label_allowed = nullptr;  // a flag per label
  const double* label_weight = nullptr;    // per label: top_k ranks by worth; see search/ranking.h
  int n_threads = 1;
  Progress* progress = nullptr;  // of top_k, in rows
};

// Probabilities are averaged over the trees, by their weights. With one tree exact search is exact. With
// several, every tree gives its own best labels and the other trees' probabilities of those are computed by
// walking their paths: averages are exact for the labels that some tree proposed. What no tree has among its
// k best is not considered by top_k; above() misses nothing, since an average is never above the largest of
// its parts. With missing_as_zero, top_k takes a label's probability as 0 in the trees that did not propose
// it: no paths are walked, and averages are too low.
class Forest {
 private:
  // What one thread needs to answer queries; made once, lent out, so that one row costs no allocation.
  struct Scratch {
    explicit Scratch(const Forest& forest);
    FeatureRow query;
    std::vector<TreeSearch> searches;
    TopKSearch<> top_k;
    TopKSearch<LabelTreeView, ByWorth> top_k_by_worth;
    ThresholdSearch<> above;
    BeamSearch<> beam;
    BeamSearch<LabelTreeView, ByWorth> beam_by_worth;
    std::vector<ScoredLabel> found, pooled;
    std::vector<std::pair<int32_t, double>> weighted;  // label and probability times the tree's weight
  };
  // Those of rows that are answered side by side.
  using Rows = std::vector<std::unique_ptr<Scratch>>;
  // Per tree and node, from per label.
  struct NodeMasks;

 public:
  // The weights are positive, one for each tree.
  Forest(std::vector<std::shared_ptr<const BlockStore>> trees, std::vector<double> weights);

  int32_t n_labels() const { return trees_[0]->tree().n_labels; }
  int64_t n_features() const { return trees_[0]->n_features(); }
  const FeatureRange& dense() const { return trees_[0]->dense(); }
  size_t n_trees() const { return trees_.size(); }

  // labels, probabilities: [row][k], filled up with -1 and 0. evaluations: per row, or null.
  void top_k(const FeatureMatrix& features, int k, float threshold, const SearchOptions& options,
             int32_t* labels, float* probabilities, int64_t* evaluations) const;

  // The k best labels with at least their threshold, best first, one list per row. label_threshold: a value
  // per label, or null for `threshold` for all.
  std::vector<std::vector<ScoredLabel>> above(const FeatureMatrix& features, int64_t k, float threshold,
                                              const float* label_threshold, const SearchOptions& options,
                                              int64_t* evaluations) const;

  // probabilities[i]: of labels[i] for the row rows[i]; rows ascending.
  void pairs(const FeatureMatrix& features, const int64_t* rows, const int32_t* labels, int64_t n,
             const SearchOptions& options, float* probabilities) const;

  // A row's labels one by one, best first, exact for any number of trees (Fagin's threshold algorithm): every
  // tree enumerates its own, each new label gets its average, and one is given out when no unseen label can
  // be better.
  class Enumeration {
   public:
    Enumeration(std::shared_ptr<const Forest> forest, const FeatureMatrix& features, int64_t row,
                const SearchOptions& options);
    ~Enumeration();
    bool next(ScoredLabel& out);

   private:
    std::shared_ptr<const Forest> forest_;
    Scratch scratch_;
    std::unique_ptr<NodeMasks> masks_;
    std::vector<float> frontier_;     // per tree: the probability of its last label, -1 when it has no more
    std::vector<ScoredLabel> ready_;  // seen but not given out: a heap, best on top
    std::vector<uint8_t> seen_;       // per label
  };

 private:
  class Lease;

  void start(Scratch& scratch, const FeatureMatrix& features, int64_t row, const SearchOptions& options,
             const NodeMasks& masks) const;
  // Replaces scratch.pooled, the trees' own labels, by each label once with its average.
  void average(Scratch& scratch) const;
  // The same from scratch.weighted, where a label that a tree did not propose is missing.
  void average_proposed(Scratch& scratch) const;
  float mean(double weighted_sum) const;
  // top_k() by the ranking that ranking_of(t) gives for tree t, with strategies that are these members.
  template <class Ranking, class RankingOf>
  void top_k(TopKSearch<LabelTreeView, Ranking> Scratch::* exact,
             BeamSearch<LabelTreeView, Ranking> Scratch::* beam, const RankingOf& ranking_of,
             const FeatureMatrix& features, int k, float threshold, const SearchOptions& options,
             int32_t* labels, float* probabilities, int64_t* evaluations) const;
  // Asks tree t for all rows by the strategy that is this member of theirs; its labels are added to `pooled`,
  // or with the tree's weight to `weighted`.
  template <class Strategy, class Start>
  void search(size_t t, const Rows& rows, size_t n, Strategy Scratch::* strategy, bool weighted,
              const Start& start) const;
  // Calls body(first, n, rows) for every n rows from `first` on that are to be answered side by side.
  template <class Body>
  void for_rows(int64_t n_rows, int n_threads, int64_t side_by_side, const Body& body) const;
  int64_t n_side_by_side(int64_t n_rows, int n_threads) const;

  std::vector<std::shared_ptr<const BlockStore>> trees_;
  std::vector<double> weights_;
  double total_weight_ = 0;
  mutable std::mutex pool_mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> pool_;
};

}  // namespace labeltree
