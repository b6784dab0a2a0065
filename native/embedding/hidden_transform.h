// Rows of words as their hidden vectors.
#pragma once

#include <cstdint>

#include "core/feature_matrix.h"
#include "lanes/vector_kernels.h"

namespace labeltree {

// The sum of the vectors of a row's words, times their values.
class HiddenTransform : public RowTransform {
 public:
  // `mean`: divide the values of a row by their sum.
  HiddenTransform(const VectorMatrix& words, bool mean) : words_(words), mean_(mean) {}

  int64_t n_features() const override { return words_.dimension; }
  void apply(FeatureRow& row, size_t begin) const override;

 private:
  VectorMatrix words_;
  bool mean_;
};

// Divides values by the sum of their absolute values.
void divide_by_sum(float* values, size_t n);

}  // namespace labeltree
