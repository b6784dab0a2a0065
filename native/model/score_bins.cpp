#include "model/score_bins.h"

#include <cstddef>

namespace labeltree {

namespace {

// The number of edges that are not above a score. Without branches: scores are in no order.
size_t bin_of(double score, std::span<const double> edges) {
  const double* first = edges.data();
  size_t left = edges.size();
  while (left > 1) {
    const size_t half = left / 2;
    first += half * static_cast<size_t>(first[half - 1] <= score);
    left -= half;
  }
  return static_cast<size_t>(first - edges.data()) + (left == 1 && *first <= score);
}

}  // namespace

ScoreSums bin_scores(const ScoredPairs& pairs, std::span<const double> edges) {
  const size_t n_bins = edges.size() + 1;
  ScoreSums sums{std::vector<double>(n_bins), std::vector<double>(n_bins), std::vector<double>(n_bins)};
  for (size_t i = 0; i < pairs.score.size(); ++i) {
    const size_t bin = bin_of(pairs.score[i], edges);
    sums.weight[bin] += pairs.weight[i];
    sums.positive[bin] += pairs.positive[i] != 0 ? pairs.weight[i] : 0.0;
    sums.score[bin] += pairs.weight[i] * pairs.score[i];
  }
  return sums;
}

Pools pool(std::span<const double> value, std::span<const double> weight) {
  Pools pools;
  std::vector<double> weights;  // of the pools
  for (size_t i = 0; i < value.size(); ++i) {
    auto begin = static_cast<int64_t>(i);
    double mean = value[i], total = weight[i];
    for (; !weights.empty() && pools.value.back() >= mean; weights.pop_back()) {
      const double both = weights.back() + total;
      mean = (weights.back() * pools.value.back() + total * mean) / both;
      total = both;
      begin = pools.begin.back();
      pools.begin.pop_back();
      pools.value.pop_back();
    }
    pools.begin.push_back(begin);
    pools.value.push_back(mean);
    weights.push_back(total);
  }
  return pools;
}

}  // namespace labeltree
