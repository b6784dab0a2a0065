// The loops that decide how fast training is: rows against matrices whose columns are vector lanes.
// Implemented once in lanes/kernels.cpp, compiled for several instruction sets, chosen when first used.
#pragma once

#include <cstdint>

#include "lanes/vector_kernels.h"
#include "training/loss_list.h"

namespace labeltree {

constexpr int kMaxLanes = 32;
// Columns of dense weights that are stored together.
constexpr int kPanelColumns = 16;

// The number of lanes for this number of problems.
constexpr int lanes_for(int problems) {
  return problems <= 4 ? 4 : problems <= 8 ? 8 : problems <= 16 ? 16 : 32;
}

// How the columns of a block are learned: from all examples at once (descent), from one after another, or
// from the examples that matter (sparse).
enum class Solver : int { descent = 0, adagrad = 1, sgd = 2, fobos = 3, sparse = 4 };

// Dense weights. Those of 16 columns after another are a panel: the weight of feature f and column c is item
// (c / 16 * n_features + f) * 16 + c % 16 of `data`; int8 is multiplied by scale[c].
struct PanelWeights {
  VectorType type = VectorType::float32;
  const void* data = nullptr;
  const float* scale = nullptr;

  // Returns visit(items) with the items in their type.
  template <class Visit>
  auto visit(const Visit& visit) const {
    if (type == VectorType::bfloat16) return visit(static_cast<const uint16_t*>(data));
    if (type == VectorType::int8) return visit(static_cast<const int8_t*>(data));
    return visit(static_cast<const float*>(data));
  }
};

// Rows with features numbered for one block only, so that the weights of a block are small and dense. The
// dense features, n_dense values in every row, have the numbers from first_dense on.
struct LocalRows {
  const int64_t* row_begin;
  const int32_t* index;
  const float* value;
  const float* dense;
  int32_t n_dense;
  int32_t first_dense;
};

// One pass of dual coordinate descent over some rows for `lanes` binary problems at once.
// Lane j of row i: alpha[i * lanes + j] and bit j of positive[i] (the class).
struct DescentPass {
  LocalRows rows;
  const float* squared_norm;  // of the whole row
  const float* single_norm;   // of the features that no other row has, which `rows` leaves out
  const float* cost;          // C times the weight of the example
  const float* lane_cost;     // [row][lane], aligned as alpha is, in place of `cost`; or null
  const uint32_t* positive;
  float* weights;  // [feature][lane], rows aligned to 64 bytes (or to the row's length, if that is less)
  float* alpha;    // [row][lane], aligned likewise
  const uint32_t* order;
  int64_t n_order;
  uint32_t used;    // lanes that are problems at all
  float tolerance;  // a lane moves only if it violates its optimality condition by more
  // What came of it: whether any lane of a visited row moved, and which lanes did in any row so far.
  uint8_t* moved;
  uint32_t moved_lanes;
};

// One pass of dual coordinate descent over some rows for one problem whose classes are the lanes, in chunks
// of `lanes`, which is kMaxLanes if there are several: chunk c has the weights from weights + c * chunk_size
// on, and alpha[(c * n_rows + i) * lanes] on for row i. Row i is of class share_class[k] to the part
// share[k], for k from share_begin[i] up to share_begin[i + 1], which sum to 1; alpha is the cost times the
// difference of that and the probability.
struct SoftmaxPass {
  LocalRows rows;
  int64_t n_rows;
  const float* squared_norm;
  const float* single_norm;
  const float* cost;
  const int64_t* share_begin;
  const int32_t* share_class;
  const float* share;
  float* weights;
  int64_t chunk_size;
  float* alpha;
  float* scratch;  // five numbers for every lane of all chunks, aligned like weights
  int n_chunks;
  int n_classes;
  const uint32_t* order;
  int64_t n_order;
  float tolerance;  // a row moves only if it violates an optimality condition by more
  // What came of it: whether a visited row moved, and whether any did so far.
  uint8_t* moved;
  bool any_moved;
};

// One pass of incremental learning over some rows: each updates every used lane once, in turn.
struct IncrementalPass {
  LocalRows rows;
  const float* example_weight;
  const float* lane_weight;  // [row][lane] instead, where labels have weights; or null
  const uint32_t* positive;
  float* weights;             // [feature][lane], as above
  float* squares;             // AdaGrad: the sums of the squared gradients of `weights`
  float initial_accumulator;  // AdaGrad: added to these sums
  double* shrunk;             // FOBOS, per feature: how much of `penalty` its weights have had
  const uint32_t* order;
  int64_t n_order;
  const float* rate;  // of the i-th row of `order`
  // What the penalty of all earlier rows amounts to before the i-th row of `order`, and after the last.
  // SGD: the weights are these times `weights`. FOBOS: the sum of the soft thresholds.
  const double* penalty;
  uint32_t used;  // lanes that are problems at all
};

// The features of one example as a growing block has them. The weights of feature k begin at
// weights + row[k] * unit; a missing feature has a row of zeros.
struct GrowingRows {
  int64_t n;
  const uint32_t* row;
  const float* value;
  float* weights;
  int64_t unit;
  int64_t squares;  // AdaGrad: where the sum of squared gradients of a weight is, seen from the weight
  float initial_accumulator;  // AdaGrad: added to these sums
  double* shrunk;             // FOBOS, per row: how much of `penalty` its weights have had; else null
  double penalty;
};

// The losses of all rows, replaced by parabolas around the scores that a round starts from. Arrays are
// [row][lane], aligned like weights; cost, lane_cost and positive are as in DescentPass.
struct LossParabolas {
  const float* cost;
  const float* lane_cost;
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

using PassOfSoftmax = void (*)(int lanes, SoftmaxPass& pass);

// Primal coordinate descent goes in rounds. A round starts by adding `share` (per lane) of the last one's
// step to the scores of rows [begin, end) and replacing the losses there by parabolas;
using StartRound = void (*)(Loss loss, int lanes, const LossParabolas& losses, int64_t begin, int64_t end,
                            const float* share);
// then features move; and how far the round really leads down tells the slope of the losses along its step,
// at `share` of it, which is added to `slope` per lane.
using SlopeAlongStep = void (*)(Loss loss, int lanes, const LossParabolas& losses, int64_t begin, int64_t end,
                                const float* share, float* slope);
using PassOverFeatures = void (*)(int lanes, FeaturePass& pass);

struct VectorKernels;  // lanes/vector_kernels.h

struct LaneKernels {
  const char* name;
  // Whether a loss can be used so. The other kernels do nothing for a loss that cannot: see check_loss().
  bool (*takes_loss)(Loss loss, LossUse use);
  // The score that is best for examples of both classes, at these costs, if the loss is used by primal
  // descent.
  double (*best_score)(Loss loss, double positive, double negative);
  // lanes is 4, 8, 16 or 32.
  void (*descent_pass)(Loss loss, int lanes, DescentPass& pass);
  PassOfSoftmax softmax_pass;
  // The solver is an incremental one; lanes is 4, 8, 16 or 32.
  void (*incremental_pass)(Solver solver, Loss loss, int lanes, const IncrementalPass& pass);
  // The scores of the first `width` lanes of a growing block: 1, 2 or a multiple of 4. A lane is computed
  // alike in a block of any width.
  void (*score_growing)(const GrowingRows& rows, int width, float* scores);
  // The gradient by the scores, which are to be multiplied by `scale`; lanes are bits of `positive` and
  // `used`, 32 to a number. Returns whether any is not 0.
  bool (*gradient_of_lanes)(Loss loss, int width, const float* scores, float scale, const uint32_t* positive,
                            const uint32_t* used, float weight, float* gradient);
  // What the example does to the weights; no feature may be missing.
  void (*step_growing)(Solver solver, const GrowingRows& rows, int width, const float* gradient, float rate);
  StartRound start_round;
  SlopeAlongStep slope_along_step;
  PassOverFeatures feature_pass;
  // similarity[i * lanes + j] = row i times column j of `columns`, for rows [begin, end); lanes is a
  // multiple of 4 up to any width.
  void (*multiply)(const LocalRows& rows, int64_t begin, int64_t end, const float* columns, int lanes,
                   float* similarity);
  // Bit j of large[f]: whether |weights[f * lanes + j]| >= bound and it is not 0; lanes is 4, 8, 16 or 32.
  // Returns how many of the weights are neither 0 nor large.
  int64_t (*find_large)(const float* weights, int64_t n_features, int lanes, float bound, uint32_t* large);
  // Adds row i times column c to sums[i][c]. A product is the same to the last bit whichever rows and columns
  // it is computed with.
  using AddProducts = void (*)(const float* const* rows, int n_rows, int64_t n_features,
                               const PanelWeights& panels, int n_columns, float* const* sums);
  AddProducts add_products;          // multiplications are fused with additions where the processor can
  AddProducts add_products_unfused;  // the same bits on every processor
  // scores[k] += value * sums[k], each of the n sums moved towards 0 by `threshold`, and not beyond.
  void (*add_shrunk)(const float* sums, int64_t n, float threshold, float value, float* scores);
  const VectorKernels* vectors;
};

// The best kernels for this processor, or those that LABELTREE_ISA names in the environment.
const LaneKernels& lane_kernels();

// Names of the kernels that can run here, best first.
int available_lane_kernels(const LaneKernels** kernels, int capacity);

}  // namespace labeltree
