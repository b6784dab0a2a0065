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
// allows, by its weights. The probability of a proposal is that of its label classifier, its score mapped by
// `map`. Any other label has the probability that the trees give it, but at most that of the least probable
// proposal. Equally probable labels are ranked by their scores, then in the order of the trees.
class RerankedForest {
 public:
  // `map` has one level, and maps the scores of all label classifiers. Throws CorruptModel if the parts do
  // not fit each other.
  RerankedForest(std::shared_ptr<const Forest> forest, std::shared_ptr<const LabelColumns> labels,
                 LevelMaps map, int64_t n_proposed);

  int32_t n_labels() const { return forest_->n_labels(); }
  int64_t n_features() const { return forest_->n_features(); }
  const FeatureRange& dense() const { return forest_->dense(); }

  // As those of Forest. Evaluations include the label classifiers. With weights, top_k() ranks the labels
  // that the trees rank among their k best, and the proposals.
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
    float probability, score;
    int32_t label;
    int32_t place;  // in the order of the trees
  };
  struct Scratch {
    SpreadRow row;
    std::vector<Candidate> candidates;
  };
  // The labels that the trees propose for some rows: [row][k], filled up with -1.
  struct Proposals {
    int64_t k;
    std::vector<int32_t> labels;
    std::vector<float> probabilities;
  };

  Proposals propose(const FeatureMatrix& features, const Search& search, int64_t k, int64_t* evaluations,
                    Progress* progress) const;
  // Fills scratch.candidates from the k labels that the trees found for a row, and returns the lowest
  // probability of a proposal, 1 if there is none.
  float judge(const FeatureMatrix& features, int64_t row, const int32_t* labels, const float* probabilities,
              int64_t k, Scratch& scratch) const;
  // Calls body(row, scratch) for every row.
  template <class Body>
  void for_rows(int64_t n_rows, int n_threads, const Body& body) const;

  std::shared_ptr<const Forest> forest_;
  std::shared_ptr<const LabelColumns> labels_;
  LevelMaps map_;
  int64_t n_proposed_;
  mutable Pool<Scratch> pool_;
};

}  // namespace labeltree
