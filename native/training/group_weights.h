// The weights that are kept of trained columns, and how groups of columns become blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/progress.h"
#include "model/block_arrays.h"
#include "training/group_solver.h"
#include "training/local_block.h"
#include "training/single_features.h"

namespace labeltree {

// Per kept feature, its entries.
struct GroupWeights {
  int64_t n_pruned = 0;
  std::vector<int32_t> feature;  // ascending
  std::vector<uint32_t> entry_end;
  std::vector<uint32_t> column;
  std::vector<float> weight;
};

// The weights of a group's columns that are at least `prune`, without the bias and the features `dense`.
// Lane j is columns[j].
GroupWeights kept_weights(const GroupProblem& problem, const SingleFeatures& singles,
                          const LaneWeights& learned, const int32_t* columns, bool has_bias,
                          const FeatureRange& dense, float prune);

// Writes all weights of the features `dense` to where the panels of the block begin.
void keep_dense_weights(const LocalBlock& rows, const LaneWeights& learned, const int32_t* columns,
                        int n_columns, const FeatureRange& dense, float* panels);

// Joins groups to blocks: group g belongs to block_of_group[g], which does not decrease. The groups are given
// up one by one. Leaves arrays.bias alone.
void assemble_blocks(std::vector<GroupWeights>& groups, const std::vector<int32_t>& block_of_group,
                     size_t n_blocks, const Progress& progress, BlockArrays& arrays);

}  // namespace labeltree
