// Pairs of a score and a class in bins, and isotonic regression on them: what calibration maps are fitted
// with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace labeltree {

// Sums over the pairs of each bin.
struct ScoreSums {
  std::vector<double> weight;    // of all pairs
  std::vector<double> positive;  // of the weights of positive pairs
  std::vector<double> score;     // of scores times weights
};

struct ScoredPairs {
  std::span<const double> score;
  std::span<const uint8_t> positive;
  std::span<const double> weight;
};

// Bin i has the scores from edges[i - 1] on, below edges[i]; the edges ascend.
ScoreSums bin_scores(const ScoredPairs& pairs, std::span<const double> edges);

// Ranges of values that isotonic regression makes equal.
struct Pools {
  std::vector<int64_t> begin;
  std::vector<double> value;  // ascending
};

// The ascending values with the smallest squared error.
Pools pool(std::span<const double> value, std::span<const double> weight);

}  // namespace labeltree
