// The rows that something is learned from, with their labels and weights.
#pragma once

#include <cstdint>

#include "core/feature_matrix.h"
#include "core/label_matrix.h"

namespace labeltree {

// A view: the caller owns the arrays.
struct Examples {
  FeatureMatrix features;
  LabelMatrixView labels;
  int32_t n_labels = 0;
  const float* sample_weight = nullptr;  // per row; null for 1
  const float* label_weight = nullptr;   // per label: what its positive rows count; null for 1

  int64_t n_rows() const { return labels.n_rows; }
  float weight(int64_t row) const { return sample_weight != nullptr ? sample_weight[row] : 1.0f; }
};

}  // namespace labeltree
