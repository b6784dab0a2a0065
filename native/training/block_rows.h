// The examples of a block as its solver wants them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/feature_matrix.h"
#include "core/progress.h"
#include "training/local_block.h"
#include "training/single_features.h"

namespace labeltree {

struct BlockRows {
  LocalBlock local;
  SingleFeatures singles;
  std::vector<float> squared_norm;  // with the single features
};

// Single features are taken out, and dense ones are a matrix, if `takes_singles`.
inline BlockRows make_block_rows(LocalBlockMaker& maker, const FeatureMatrix& features, const int32_t* rows,
                                 int64_t n_rows, float bias, bool takes_singles, const Progress& progress) {
  BlockRows block;
  LocalBlock& local = block.local = maker.make(features, rows, n_rows, bias, progress, !takes_singles);
  block.squared_norm.resize(n_rows);
  for (int64_t i = 0; i < n_rows; ++i) {
    double sum = 0;
    for (int64_t k = local.row_begin[i]; k < local.row_begin[i + 1]; ++k) {
      sum += static_cast<double>(local.value[k]) * local.value[k];
    }
    for (int64_t d = i * local.n_dense; d < (i + 1) * local.n_dense; ++d) {
      sum += static_cast<double>(local.dense[d]) * local.dense[d];
    }
    block.squared_norm[i] = static_cast<float>(sum);
  }
  block.singles = take_singles(local, takes_singles);
  return block;
}

// A weight of 0 must not divide by 0, nor a huge one overflow.
constexpr float kSmallestCost = 1e-10f;
inline float bounded_cost(float cost) { return std::clamp(cost, kSmallestCost, 1e10f); }

}  // namespace labeltree
