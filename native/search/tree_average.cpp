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
