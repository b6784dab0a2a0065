// What the kernels of primal coordinate descent work on: features in turn, all lanes of a group at once.
#pragma once

#include <cstdint>

namespace labeltree {

// Rows with features numbered for one block only, so that the weights of a block are small and dense. The
// same by feature: then `index` holds rows.
struct LocalRows {
  const int64_t* row_begin;
  const int32_t* index;
  const float* value;
};

// The losses of all rows, replaced by parabolas around the scores that a round starts from. Arrays are
// [row][lane], aligned like weights; cost and positive are as in DescentPass.
struct LossParabolas {
  const float* cost;
  const uint32_t* positive;
  float* score;      // when the round started
  float* step;       // what the round added to it
  float* gradient;   // of the parabola, where the round has come to
  float* curvature;  // of the parabola
};

// Some features in turn: each goes to where the parabolas and the penalty |w|_1 are least.
struct FeaturePass {
  LocalRows features;    // by feature
  const float* largest;  // per feature, of its absolute values
  LossParabolas losses;
  float* weights;  // [feature][lane]
  float* before;   // the same when the round started, of features that moved
  const uint32_t* order;
  int64_t n_order;
  uint32_t used;    // lanes that are problems at all
  float tolerance;  // a lane moves only if a score would move by more, or its weight to 0
  // What came of it: whether any lane of a feature moved in this round, and which lanes did so far.
  uint8_t* moved;
  uint32_t moved_lanes;
};

}  // namespace labeltree
