// The scores of rows that a group of columns has not seen.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned_floats.h"
#include "core/feature_matrix.h"
#include "core/progress.h"
#include "training/group_solver.h"
#include "training/group_weights.h"
#include "training/local_block.h"

namespace labeltree {

// The weights of a group that training would store.
struct StoredGroup {
  GroupWeights sparse;  // lane j is column j
  AlignedVector panels;
  std::vector<float> bias;
};

// One per worker: it keeps its memory from one group to the next.
class HeldOutScores {
 public:
  // The same bits on every processor. The features of the rows ascend, and they have no bias.
  void assign(const LocalBlock& rows, const StoredGroup& group, int n_columns, const Progress& progress);

  float operator()(int64_t row, int column) const { return scores_.data()[row * lanes_ + column]; }

 private:
  int lanes_ = 0;
  AlignedFloats weights_, scores_;
};

}  // namespace labeltree
