// The average of several trees' probabilities.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "search/ranking.h"
#include "search/tree_search.h"

namespace labeltree {

// A label and its probability in one tree times the weight of the tree.
using WeightedLabel = std::pair<int32_t, double>;

class TreeAverage {
 public:
  // The weights are above 0, one for each tree.
  explicit TreeAverage(std::vector<double> weights);

  size_t n_trees() const { return weights_.size(); }
  double weight(size_t tree) const { return weights_[tree]; }
  double total() const { return total_; }

  // Replaces the labels that some tree proposed by each label once with its average. Trees that did not
  // propose a label are asked for it: their searches walk its path.
  template <class Store>
  void average(std::vector<TreeSearch<Store>>& searches, std::vector<ScoredLabel>& labels) const {
    std::sort(labels.begin(), labels.end(),
              [](const ScoredLabel& a, const ScoredLabel& b) { return a.label < b.label; });
    labels.erase(std::unique(labels.begin(), labels.end(),
                             [](const ScoredLabel& a, const ScoredLabel& b) { return a.label == b.label; }),
                 labels.end());
    for (ScoredLabel& candidate : labels) {
      double sum = 0;
      for (size_t t = 0; t < weights_.size(); ++t) {
        sum += weights_[t] * searches[t].probability(candidate.label);
      }
      // From a sum in double precision: in single precision the mean could be above all of its parts, and
      // searches that rely on the opposite would miss labels.
      candidate.probability = static_cast<float>(sum / total_);
    }
  }
  // The same without asking: a label that a tree did not propose has the probability 0 there.
  void average_proposed(std::vector<WeightedLabel>& proposed, std::vector<ScoredLabel>& labels) const;
  // The average of one value per tree.
  double mean(const std::vector<double>& values) const;

 private:
  std::vector<double> weights_;
  double total_ = 0;
};

}  // namespace labeltree
