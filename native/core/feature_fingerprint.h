// A number that tells matrices of features apart.
#pragma once

#include <bit>
#include <cstdint>

#include "core/feature_matrix.h"
#include "core/progress.h"
#include "core/random.h"

namespace labeltree {

// Of the rows as a learner sees them, in whatever form they are given: equal matrices have equal numbers, and
// others do but once in 2^64. No protection against somebody who looks for such matrices.
inline uint64_t fingerprint(const FeatureMatrix& matrix, const Progress& progress) {
  uint64_t hash =
      mix_seed(static_cast<uint64_t>(matrix.n_rows()), static_cast<uint64_t>(matrix.n_features()));
  const auto add = [&](uint64_t word) { hash = mix_seed(hash, word); };
  add(static_cast<uint64_t>(matrix.dense().begin));
  add(static_cast<uint64_t>(matrix.dense().end));
  FeatureRow row;
  for (int64_t i = 0; i < matrix.n_rows(); ++i) {
    if (i % 4096 == 0) progress.check();
    row.clear();
    matrix.append(i, row);
    add(row.index.size());
    for (size_t k = 0; k < row.index.size(); ++k) {
      add(uint64_t{static_cast<uint32_t>(row.index[k])} << 32 | std::bit_cast<uint32_t>(row.value[k]));
    }
    for (const float value : row.dense) add(std::bit_cast<uint32_t>(value));
  }
  return hash;
}

}  // namespace labeltree
