// The sibling blocks of a tree, and the groups of their columns that are solved together.
#pragma once

#include <cstdint>
#include <vector>

#include "core/label_tree.h"
#include "training/node_assignment.h"

namespace labeltree {

// The children of one node; block 0 is the root alone.
struct SiblingBlock {
  int32_t first_node = 0;
  int32_t n_nodes = 0;
  std::vector<int32_t> columns;   // columns that need learning, frequent ones first
  const int32_t* rows = nullptr;  // the examples that they learn from, ascending
  int64_t n_rows = 0;
};

// A range of SiblingBlock::columns, not longer than kMaxLanes.
struct ColumnGroup {
  int32_t block;
  int32_t begin, end;
};

// Whether all the rows of a column are of one class.
inline bool is_constant(int64_t n_positive, int64_t n_rows) {
  return n_positive == 0 || n_positive == n_rows;
}

// Whether there is anything to learn: constant columns have a certain score, unless the solver learns them.
inline bool needs_learning(int64_t n_positive, int64_t n_rows, bool learns_constants) {
  return n_rows > 0 && (learns_constants || !is_constant(n_positive, n_rows));
}

// The score of a constant column.
float constant_score(int64_t n_positive);

// Some of the blocks in the order of BlockArrays: [first, last).
struct BlockRange {
  int64_t first, last;

  int64_t size() const { return last - first; }
};

// All blocks of a tree, and the root's own.
BlockRange all_blocks(const LabelTreeView& tree);

// The blocks of the range. They look into the assignment, and block 0 into `all_rows`, which becomes the
// numbers of all rows.
std::vector<SiblingBlock> sibling_blocks(const LabelTreeView& tree, const NodeRows& assignment,
                                         int64_t n_rows, const BlockRange& range,
                                         std::vector<int32_t>& all_rows, bool learns_constants = false);

// All groups, by block.
std::vector<ColumnGroup> column_groups(const std::vector<SiblingBlock>& blocks);

// The numbers of the groups, those with many rows first, so that no long task is left for the end. Groups of
// one block stay together.
std::vector<size_t> largest_first(const std::vector<ColumnGroup>& groups,
                                  const std::vector<SiblingBlock>& blocks);

}  // namespace labeltree
