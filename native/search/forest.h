// Trees that are asked together, for many examples at once.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/feature_matrix.h"
#include "core/pool.h"
#include "core/progress.h"
#include "model/block_store.h"
#include "search/beam_search.h"
#include "search/joint_search.h"
#include "search/search.h"
#include "search/threshold_search.h"
#include "search/top_k_search.h"
#include "search/tree_average.h"
#include "search/tree_search.h"

namespace labeltree {

// Probabilities are averaged over the trees, by their weights. Exact search is exact with any number of
// trees: top_k() goes on with a JointSearch where the trees' own searches end, and above() misses nothing,
// since an average is never above the largest of its parts. With a beam every tree gives its own k best
// labels, and the other trees' probabilities of those are computed by walking their paths: averages are
// exact, but labels that no tree gives are not considered. With missing_as_zero, top_k() takes a label's
// probability as 0 in the trees that do not have it among their k best: no paths are walked, and averages are
// too low.
//
// The trees are those of a model (BlockStore), or online trees, which may change between two questions. A
// store, see search/tree_search.h, also has kRowsPerTask, how many rows a thread takes at once, and
// kSharesBlocks, whether rows that are answered side by side share the work of a block.
template <class Store>
class ForestOf {
 private:
  using Tree = std::remove_cvref_t<decltype(std::declval<const Store&>().tree())>;
  // The searches for the k best labels by a ranking.
  template <class Ranking>
  struct Ranked {
    TopKSearch<Tree, Ranking> exact;
    BeamSearch<Tree, Ranking> beam;
    JointSearch<Store, Ranking> joint;
  };
  // What one thread needs to answer queries; made once, lent out, so that one row costs no allocation.
  struct Scratch {
    explicit Scratch(const ForestOf& forest);
    typename Store::Query query;
    std::vector<TreeSearch<Store>> searches;
    Ranked<ByProbability> by_probability;
    Ranked<ByWorth> by_worth;
    ThresholdSearch<Tree> above;
    std::vector<ScoredLabel> found, pooled;
    std::vector<WeightedLabel> weighted;
  };
  // Those of rows that are answered side by side.
  using Rows = typename Pool<Scratch>::Items;

 public:
  // Per tree and node, whether some label below the node is allowed.
  class NodeMasks {
   public:
    NodeMasks(const ForestOf& forest, const uint8_t* label_allowed);
    // Null if all labels are allowed.
    const uint8_t* of_tree(size_t t) const { return allowed_.empty() ? nullptr : allowed_[t].data(); }

   private:
    std::vector<std::vector<uint8_t>> allowed_;
  };

  // The weights are positive, one for each tree.
  ForestOf(std::vector<std::shared_ptr<const Store>> trees, std::vector<double> weights);

  int32_t n_labels() const { return trees_[0]->tree().n_labels; }
  size_t n_trees() const { return trees_.size(); }
  const Store& tree(size_t t) const { return *trees_[t]; }
  const TreeAverage& average() const { return average_; }

  // labels, probabilities: [row][k], filled up with -1 and 0. evaluations: per row, or null. progress, in
  // rows, may be null.
  void top_k(const FeatureMatrix& features, const Search& search, int32_t* labels, float* probabilities,
             int64_t* evaluations, Progress* progress) const;
  // The same for one row, by the calling thread.
  void top_k_of_row(const FeatureMatrix& features, int64_t row, const Search& search, int32_t* labels,
                    float* probabilities) const;

  // The k best labels with at least their threshold, best first, one list per row.
  std::vector<std::vector<ScoredLabel>> above(const FeatureMatrix& features, const Search& search,
                                              int64_t* evaluations) const;

  // probabilities[i]: of labels[i] for the row rows[i]; rows ascending.
  void pairs(const FeatureMatrix& features, const int64_t* rows, const int32_t* labels, int64_t n,
             const Search& search, float* probabilities) const;

 private:
  class Lease;

  void start(Scratch& scratch, const FeatureMatrix& features, int64_t row, const Search& search,
             const NodeMasks& masks) const;
  // Rows from `first` on, and where the answers of the first of them are to be written.
  struct Wanted {
    const FeatureMatrix& features;
    int64_t first, n_rows;
    int32_t* labels;
    float* probabilities;
    int64_t* evaluations;
    Progress* progress;
  };
  void top_k(const Wanted& wanted, const Search& search) const;
  // top_k() by these rankings, one for each tree, with the searches that are this member.
  template <class Ranking>
  void top_k(Ranked<Ranking> Scratch::* ranked, const std::vector<Ranking>& rankings, const Wanted& wanted,
             const Search& search) const;
  // top_k() of a batch of rows for which n_in_batch() is not 0. answer(row, 1, scratch) answers a row alone.
  template <class Ranking, class Answer>
  void top_k_in_batch(const Ranking& ranking, int64_t n_in_batch, const NodeMasks& masks,
                      const Wanted& wanted, const Search& search, const Answer& answer) const;
  // Asks tree t for all rows by the strategies that strategy_of(scratch) gives; its labels are added to
  // `pooled`, or with the tree's weight to `weighted`.
  template <class StrategyOf, class Start>
  void ask_tree(size_t t, const Rows& rows, size_t n, const StrategyOf& strategy_of, bool weighted,
                const Start& start) const;
  // Calls body(first, n, rows) for every n rows from `first` on that are answered side by side.
  template <class Body>
  void for_rows(int64_t n_rows, int n_threads, int64_t side_by_side, const Body& body) const;
  int64_t n_side_by_side(int64_t n_rows, int n_threads) const;
  // How many rows a BatchSearch answers at a time; 0 if they are not answered by one.
  int64_t n_in_batch(int64_t n_rows, const Search& search) const
    requires(Store::kSharesBlocks);

  std::vector<std::shared_ptr<const Store>> trees_;
  TreeAverage average_;
  mutable Pool<Scratch> pool_;
};

using Forest = ForestOf<BlockStore>;
extern template class ForestOf<BlockStore>;

}  // namespace labeltree
