// Trees over examples, asked together for many examples at once, from arrays that lie where they are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/feature_matrix.h"
#include "core/pool.h"
#include "core/progress.h"
#include "core/span.h"
#include "search/ranking.h"
#include "search/search.h"

namespace labeltree {

// See ExampleTreeArrays.
struct ExampleTreeViews {
  Span<int64_t> tree_begin;
  Span<int32_t> child;
  Span<int64_t> weight_begin;
  Span<int32_t> feature;
  Span<float> weight;
  Span<float> bias;
  Span<int64_t> pair_begin;
  Span<int32_t> label;
  Span<float> probability;
};

// See LabelMeans. With these, what the trees say of a label is weighed against how near the row, scaled to
// unit length, is to its mean:
//   alpha * log(trees) + (1 - alpha) * log(near),  near = 1 / (1 + exp(gamma * squared distance)).
// The probability is the exponential of this over 1 + (1 - alpha) * gamma, which changes no ranking and keeps
// it from vanishing. Without (no entries in `begin`), the trees alone are asked.
struct LabelMeanViews {
  Span<int64_t> begin;
  Span<int32_t> feature;
  Span<float> value;
  Span<float> square;
  double gamma = 0;
  double alpha = 1;
};

// Every tree sends a row to one leaf, and what these say of a label is averaged. All other labels have the
// probability 0. The constructor finds errors in the shape of the trees; errors inside a node, a leaf or a
// mean are found when it is used. Both throw CorruptModel.
class ExampleForest {
 public:
  ExampleForest(const ExampleTreeViews& trees, const LabelMeanViews& means, int32_t n_labels,
                int64_t n_features);

  int32_t n_labels() const { return n_labels_; }
  int64_t n_features() const { return n_features_; }

  // Throws CorruptModel unless all is well.
  void verify() const;

  // As in Forest, by k, thresholds, label_weight, allowed and n_threads alone: a row goes one way through a
  // tree, so that a beam saves nothing; there are no siblings; and a tree that does not speak of a label has
  // said that its probability is 0. With a threshold of 0 rows are filled up with labels of probability 0.
  void top_k(const FeatureMatrix& features, const Search& search, int32_t* labels, float* probabilities,
             int64_t* evaluations, Progress* progress) const;

  // Labels of probability 0 are left out, whatever their threshold.
  std::vector<std::vector<ScoredLabel>> above(const FeatureMatrix& features, const Search& search,
                                              int64_t* evaluations) const;

  void pairs(const FeatureMatrix& features, const int64_t* rows, const int32_t* labels, int64_t n,
             const Search& search, float* probabilities) const;

  // All allowed labels of one row, best first.
  std::vector<ScoredLabel> ranked(const FeatureMatrix& features, int64_t row, const Search& search) const;

 private:
  struct Scratch {
    Scratch(int64_t n_features, int32_t n_labels) : value(n_features, 0.0f), sum(n_labels, 0.0) {}
    FeatureRow row;
    std::vector<float> value;        // the row by feature
    std::vector<double> sum;         // by label, of what the trees say; 0 for all others
    std::vector<ScoredLabel> voted;  // labels that some tree speaks of
    std::vector<ScoredLabel> chosen;
    int64_t n_evaluations = 0;
  };
  class Lease;

  // Fills scratch.voted, labels in the order in which they came.
  void vote(const FeatureMatrix& features, int64_t row, Scratch& scratch) const;
  int64_t leaf_of(int64_t tree, Scratch& scratch) const;
  // The logarithm of how near the row, of this squared length, is to the label's mean.
  double log_nearness(int32_t label, const Scratch& scratch, double square) const;
  // Fills scratch.chosen with the k best of scratch.voted, and labels of probability 0 if there is room.
  template <class Ranking>
  void choose(const Search& search, const Ranking& ranking, Scratch& scratch) const;
  template <class Body>
  void for_rows(int64_t n_rows, int n_threads, const Body& body) const;

  ExampleTreeViews trees_;
  LabelMeanViews means_;
  int32_t n_labels_;
  int64_t n_features_;
  mutable Pool<Scratch> pool_;
};

}  // namespace labeltree
