#include "search/tree_average.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace labeltree {

TreeAverage::TreeAverage(std::vector<double> weights) : weights_(std::move(weights)) {
  for (const double weight : weights_) {
    if (!(weight > 0)) {
      throw std::invalid_argument("the weights of trees must be above 0, got " + std::to_string(weight));
    }
    total_ += weight;
  }
}

void TreeAverage::average(std::vector<TreeSearch>& searches, std::vector<ScoredLabel>& labels) const {
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

void TreeAverage::average_proposed(std::vector<WeightedLabel>& proposed,
                                   std::vector<ScoredLabel>& labels) const {
  // Stable: a label's terms are added in the order of the trees.
  std::stable_sort(proposed.begin(), proposed.end(),
                   [](const WeightedLabel& a, const WeightedLabel& b) { return a.first < b.first; });
  labels.clear();
  for (size_t i = 0; i < proposed.size();) {
    const int32_t label = proposed[i].first;
    double sum = 0;
    for (; i < proposed.size() && proposed[i].first == label; ++i) sum += proposed[i].second;
    labels.push_back({static_cast<float>(sum / total_), label});
  }
}

double TreeAverage::mean(const std::vector<double>& values) const {
  return std::inner_product(values.begin(), values.end(), weights_.begin(), 0.0) / total_;
}

}  // namespace labeltree
