// Finding the best labels of many rows at once by probabilities that come from elsewhere.
#pragma once

#include <cstdint>
#include <vector>

#include "label_tree.h"
#include "tree_search.h"

namespace labeltree {

enum class SearchStrategy {
  best_first,  // the k best: the most probable open node of every row is wanted next
  all_above,   // all with at least their threshold: whole levels are wanted
  beam         // the k best below the `beam` best nodes of every level
};

struct GuidedSearchOptions {
  SearchStrategy strategy = SearchStrategy::best_first;
  int64_t k = 1;
  int64_t beam = 1;
  float threshold = 0;
  std::vector<float> node_threshold;  // for all_above: the smallest below each node; empty for `threshold`
  std::vector<uint8_t> node_allowed;  // whether some label below a node may be predicted; empty for all
};

// The searches of TreeSearch, turned inside out and run for all rows in lock step: instead of asking a store
// they say which blocks they want next, and go on when they are given. A block is asked for once per row, and
// only if TreeSearch would ask for it too.
class GuidedSearch {
 public:
  // A block that a row wants: the children of `parent.node`, or the root alone if that is -1.
  struct Wanted {
    int64_t row;
    ScoredNode parent;
  };

  GuidedSearch(const LabelTreeView& tree, int64_t n_rows, GuidedSearchOptions options);

  // By row; empty when the search is over.
  const std::vector<Wanted>& wanted() const { return wanted_; }
  int64_t n_wanted_nodes() const;

  // The probabilities of all wanted nodes given their parents', block after block.
  void give(const float* probabilities);

  // What was found for a row, best first; complete when nothing is wanted.
  std::vector<ScoredLabel> found(int64_t row) const;

  int64_t n_rows() const { return static_cast<int64_t>(rows_.size()); }

 private:
  struct Row {
    std::vector<ScoredNode> queue;   // best_first: a heap with the best on top
    std::vector<ScoredLabel> found;  // best_first: a heap with the worst of the best on top
  };

  int32_t first_child(int32_t node) const { return node < 0 ? 0 : tree_.child_begin[node]; }
  int32_t n_children(int32_t node) const { return node < 0 ? 1 : tree_.n_children(node); }
  // Whether a label or node of this probability can change what is found.
  bool useful(const Row& row, float probability) const;
  bool passes(const Row& row, int32_t node, float probability) const;
  void accept(Row& row, const ScoredNode& parent, const float* probabilities);
  void want_next(int64_t row, std::vector<Wanted>& wanted);

  LabelTreeView tree_;
  GuidedSearchOptions options_;
  std::vector<Row> rows_;
  std::vector<Wanted> wanted_;
};

}  // namespace labeltree
