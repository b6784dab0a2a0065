// The mean of the examples of every label. The distance to it says how near a row is to the label's rows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "core/progress.h"

namespace labeltree {

// Label j has the features feature[begin[j] .. begin[j + 1]), ascending, with values; none for a label
// without examples. square[j]: the squared length of its mean.
struct LabelMeans {
  std::vector<int64_t> begin;
  std::vector<int32_t> feature;
  std::vector<float> value;
  std::vector<float> square;
};

// Every row is scaled to unit length first, whether or not the matrix does so.
LabelMeans label_means(const Examples& examples, int n_threads, Progress& progress);

// Scales values to unit length, if they have any.
void scale_to_unit(std::vector<float>& values);

}  // namespace labeltree
