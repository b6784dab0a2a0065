// Trees that propose labels, and a classifier for each label that ranks the proposals.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/feature_matrix.h"
#include "core/pool.h"
#include "core/progress.h"
#include "model/label_columns.h"
#include "model/level_maps.h"
#include "search/forest.h"
#include "search/ranking.h"
#include "search/search.h"

namespace labeltree {

// The proposals of a row are the `n_proposed` labels that the trees rank highest, among those that the search
// allows and that have a probability of at least `least` there, by its weights. The probability of a proposal
// is that of its label classifier, its score mapped by `map`. Any other label has the probability that the
// trees give it, but at most that of the least probable proposal. Equally probable labels are ranked by their
// scores, which other labels do not have, then by their probability in the trees, then by label.
class RerankedForest {
 public:
  // `map` has one level, and maps the scores of all label classifiers. Throws CorruptModel if the parts do
  // not fit each other.
  RerankedForest(std::shared_ptr<const Forest> forest, std::shared_ptr<const LabelColumns> labels,
                 LevelMaps map, int64_t n_proposed, float least);

  int32_t n_labels() const { return forest_->n_labels(); }
  int64_t n_features() const { return forest_->tree(0).n_features(); }
  const FeatureRange& dense() const { return forest_->tree(0).dense(); }

  // As those of Forest. Evaluations include the label classifiers. top_k() ranks the proposals and, if
  // there are fewer than k, the labels that the trees rank among their k best.
  void top_k(const FeatureMatrix& features, const Search& search, int32_t* labels, float* probabilities,
             int64_t* evaluations, Progress* progress) const;
  std::vector<std::vector<ScoredLabel>> above(const FeatureMatrix& features, const Search& search,
                                              int64_t* evaluations) const;
  void pairs(const FeatureMatrix& features, const int64_t* rows, const int32_t* labels, int64_t n,
             const Search& search, float* probabilities) const;

  // The probability of a score.
  float probability(float score) const;

 private:
  struct Candidate {
    float probability, score, of_trees;
    int32_t label;
  };
  struct Scratch {
    SpreadRow row;
    std::vector<Candidate> candidates;
  };
  // The best labels of the trees for some rows: [row][k], filled up with -1.
  struct BestOfTrees {
    int64_t k;
    std::vector<int32_t> labels;
    std::vector<float> probabilities;
  };

  BestOfTrees ask_trees(const FeatureMatrix& features, const Search& search, int64_t k, float threshold,
                        int64_t* evaluations, Progress* progress) const;
  // Makes the proposals for a row the candidates; returns the lowest probability of one, 1 if there is none.
  float judge(const FeatureMatrix& features, int64_t row, const BestOfTrees& proposals,
              Scratch& scratch) const;
  // Adds a label that is not among the first n candidates, which are the proposals.
  static void add_other(int32_t label, float of_trees, float lowest, size_t n_proposals, Scratch& scratch);
  // Calls body(row, scratch) for every row.
  template <class Body>
  void for_rows(int64_t n_rows, int n_threads, const Body& body) const;

  std::shared_ptr<const Forest> forest_;
  std::shared_ptr<const LabelColumns> labels_;
  LevelMaps map_;
  int64_t n_proposed_;
  float least_;
  mutable Pool<Scratch> pool_;
};

}  // namespace labeltree
