// What groups of sibling columns, learned from a part of their rows, say about the other rows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "core/label_tree.h"
#include "core/progress.h"
#include "training/block_solver.h"
#include "training/sibling_blocks.h"

namespace labeltree {

enum class RowUse : uint8_t { train = 0, hold_out = 1, ignore = 2 };

// Some of SiblingBlock::columns by their places, ascending; at most kMaxLanes.
struct HeldOutGroup {
  int32_t block;
  const int32_t* places;
  int64_t n_columns;
};

// What a block with too many rows keeps of them at least, and of the positive rows of a column, about.
constexpr double kLeastTrainShare = 0.1, kFewestPositive = 30;

struct HeldOutTask {
  const uint8_t* held_out = nullptr;  // per row: a RowUse
  std::vector<HeldOutGroup> groups;
  const float* C_values = nullptr;  // [group][C]
  size_t n_C = 0;                   // of each group
  int64_t most_rows = 0;            // of a block with more of them, a share is drawn to train on
  double negative_share = 1;        // the chance of a negative pair to be kept
};

// Pairs of a held-out row and a node of a group whose parent is positive for the row, by group, row and
// column.
struct HeldOutPairs {
  std::vector<int64_t> group_begin;  // group g has the pairs [group_begin[g], group_begin[g + 1])
  std::vector<int32_t> node, row;
  std::vector<uint8_t> column;    // its number in the group
  std::vector<uint8_t> positive;  // whether the row has a label below the node
  std::vector<float> score;       // [pair][C]
};

// Learns each group with each of its C from the rows to train on, as train_blocks() would with C in place of
// its own, and scores the held-out rows of the block. Every C starts from nothing, as training does: from the
// solution of another C, a few passes lead nearer to the optimum than training comes. All positive pairs are
// kept; a negative one is kept by a number that depends on seed, row and node alone. So is a row to train on,
// where a block has more than `most_rows`, by one that depends on seed, row and block.
//
// The columns of groups are those that need learning when all rows are trained on. A column without a row of
// each class among the rows to train on has the score of a constant column, as in a model of these rows. Only
// columns that are constant over all rows are in no group: a model would have no doubt about them, and be
// right.
HeldOutPairs held_out_blocks(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
                             const SolverOptions& options, const HeldOutTask& task, Progress& progress);

}  // namespace labeltree
