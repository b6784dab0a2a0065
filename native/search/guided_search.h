// Finding the best labels of many rows at once by probabilities that come from elsewhere.
#pragma once

#include <cstdint>
#include <vector>

#include "core/label_tree.h"
#include "search/search.h"
#include "search/top_k_search.h"

namespace labeltree {

enum class GuidedStrategy {
  best_first,  // the k best: the most probable open node of every row is wanted next
  all_above,   // all with at least their threshold: whole levels are wanted
  beam         // the k best below the `beam` best nodes of every level
};

// Searches for all rows in lock step: they say which blocks they want next, and go on when all are given. The
// k best of a row are found by its own TopKSearch, one block at a time. The other searches want whole levels,
// so that there are no more rounds than levels. Either way a row wants a block once, and only if the strategy
// of the same kind would want it too.
class GuidedSearch {
 public:
  // A block that a row wants: the children of `parent.node`, or the root alone if that is -1.
  struct Wanted {
    int64_t row;
    ScoredNode parent;  // for best_first without its probability, which the row's search knows
  };

  // The arrays of `search` are not needed afterwards.
  GuidedSearch(const LabelTreeView& tree, int64_t n_rows, GuidedStrategy strategy, const Search& search);
  // The searches of rows look into the members.
  GuidedSearch(const GuidedSearch&) = delete;
  GuidedSearch& operator=(const GuidedSearch&) = delete;

  // By row; empty when the search is over.
  const std::vector<Wanted>& wanted() const { return wanted_; }
  int64_t n_wanted_nodes() const;

  // The probabilities of all wanted nodes given their parents', block after block.
  void give(const float* probabilities);

  // What was found for a row, best first; complete when nothing is wanted.
  std::vector<ScoredLabel> found(int64_t row) const;

  int64_t n_rows() const { return n_rows_; }

 private:
  // Of a row that wants whole levels.
  struct LevelSearch {
    std::vector<ScoredNode> waiting;
    std::vector<ScoredLabel> found;
  };

  int32_t first_child(int32_t node) const { return node < 0 ? 0 : tree_.child_begin[node]; }
  int32_t n_children(int32_t node) const { return node < 0 ? 1 : tree_.n_children(node); }
  const uint8_t* allowed() const { return node_allowed_.empty() ? nullptr : node_allowed_.data(); }
  bool is_best_first() const { return strategy_ == GuidedStrategy::best_first; }
  bool is_by_worth() const { return !label_weight_.empty(); }
  ByWorth by_worth() const { return {label_weight_.data(), node_weight_.data()}; }
  template <class Ranking>
  void go_on(TopKSearch<LabelTreeView, Ranking>& search, const Ranking& ranking, int64_t row, int32_t parent,
             const float* probabilities, std::vector<Wanted>& wanted);
  bool passes(int32_t node, float probability) const;
  void accept(LevelSearch& search, const ScoredNode& parent, const float* probabilities) const;
  void want_level(int64_t row, std::vector<Wanted>& wanted);

  LabelTreeView tree_;
  int64_t n_rows_;
  GuidedStrategy strategy_;
  int64_t k_;
  int beam_;
  float threshold_;
  std::vector<float> node_threshold_;  // the smallest below each node; empty for `threshold_`
  std::vector<uint8_t> node_allowed_;  // whether some label below a node may be found; empty for all
  // To rank by worth, see search/ranking.h: the weights of labels, and the largest below each node. Else
  // empty.
  std::vector<double> label_weight_, node_weight_;
  // One of them has an entry per row.
  std::vector<TopKSearch<>> best_first_;
  std::vector<TopKSearch<LabelTreeView, ByWorth>> worthiest_first_;
  std::vector<LevelSearch> by_level_;
  std::vector<Wanted> wanted_;
};

}  // namespace labeltree
