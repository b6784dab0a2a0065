// What the answers of all kinds of forests have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "search/ranking.h"

namespace labeltree {

// Writes the first k labels and probabilities, filled up with -1 and 0.
inline void write_ranked(const std::vector<ScoredLabel>& found, int64_t k, int32_t* labels,
                         float* probabilities) {
  for (int64_t j = 0; j < k; ++j) {
    const bool there = j < static_cast<int64_t>(found.size());
    labels[j] = there ? found[j].label : -1;
    probabilities[j] = there ? found[j].probability : 0.0f;
  }
}

// Where runs of one row begin, and the end of the last: the pairs of a row are answered together.
inline std::vector<int64_t> run_starts(const int64_t* rows, int64_t n) {
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || rows[i] != rows[i - 1]) starts.push_back(i);
  }
  starts.push_back(n);
  return starts;
}

}  // namespace labeltree
