// The groups of columns that training solves together, with what they cost.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "core/label_tree.h"
#include "core/progress.h"
#include "training/node_assignment.h"

namespace labeltree {

// Groups of columns as train_blocks() makes them.
struct BlockGroups {
  std::vector<int32_t> block, begin, end;
  std::vector<int32_t> level;      // of the nodes; the root is on level 0
  std::vector<int64_t> n_rows;     // of the block
  std::vector<int64_t> n_entries;  // of these rows: values of features, with the bias
};

BlockGroups block_groups(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
                         const Progress& progress);

}  // namespace labeltree
