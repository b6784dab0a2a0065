// The classes and costs of a block's rows in the columns of a group.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned_floats.h"
#include "core/examples.h"
#include "training/block_rows.h"
#include "training/group_solver.h"
#include "training/node_assignment.h"
#include "training/sibling_blocks.h"

namespace labeltree {

// Bit c of row i: whether row i of the block has a label below the c-th of these columns.
std::vector<uint32_t> positive_columns(const SiblingBlock& block, const int32_t* columns, int n_columns,
                                       const NodeRows& assignment);

// One per worker: it keeps its memory from one group to the next.
class GroupExamples {
 public:
  // `columns` stay where they are until the next call.
  void assign(const SiblingBlock& block, const int32_t* columns, int n_columns, const NodeRows& assignment);

  // Every row is positive in every column, as a row of a joint block is for its codes.
  void assign_positive(int64_t n_rows, int n_columns);

  // After either: what a row costs is C times its weight, and positive rows of a column as many times more
  // as the heaviest of their labels below it weighs.
  void weigh(const SiblingBlock& block, const Examples& examples, float C, const NodeRows& assignment);

  // The same with a C for each column.
  void weigh(const SiblingBlock& block, const Examples& examples, const std::vector<float>& C,
             const NodeRows& assignment);

  const std::vector<uint32_t>& positive() const { return positive_; }
  // After weigh(). A view of this and of the rows.
  GroupProblem problem(const BlockRows& rows, const int32_t* row_number) const;

 private:
  void weigh_lanes(const SiblingBlock& block, const Examples& examples, const std::vector<float>& C,
                   const NodeRows& assignment);

  const int32_t* columns_ = nullptr;
  int n_columns_ = 0;
  std::vector<uint32_t> positive_;
  std::vector<float> cost_;
  AlignedFloats lane_cost_;
  bool has_lane_cost_ = false;
};

}  // namespace labeltree
