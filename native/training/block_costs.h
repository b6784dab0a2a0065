// What it costs to train each block of a tree.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "core/label_tree.h"
#include "core/progress.h"
#include "training/block_solver.h"
#include "training/node_assignment.h"

namespace labeltree {

// Per block.
struct BlockCosts {
  std::vector<int64_t> n_rows;
  std::vector<int64_t> n_entries;  // of these rows: values of features, with the bias
  std::vector<int32_t> n_columns;  // that need learning, each by itself
};

BlockCosts block_costs(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
                       const SolverOptions& options, const Progress& progress);

// The entries of some rows.
int64_t count_entries(const FeatureMatrix& features, const int32_t* rows, int64_t n_rows);

}  // namespace labeltree
