// Which examples train which node: algorithms 1 and 2 of the paper, kept as one list of rows per node.
#pragma once

#include <cstdint>
#include <vector>

#include "core/label_matrix.h"
#include "core/label_tree.h"
#include "core/progress.h"

namespace labeltree {

// rows[row_begin[v] .. row_begin[v + 1]): the examples with a label below node v, ascending. They are the
// positive examples of node v and all the examples of v's children; so the negative ones need no list.
// A view: the arrays may be mapped from a file.
struct NodeRows {
  const int64_t* row_begin;
  const int32_t* rows;
  const float* weight;  // of each of `rows`: the largest of its labels below the node; null for all 1

  int64_t n_rows(int32_t node) const { return row_begin[node + 1] - row_begin[node]; }
  const int32_t* begin(int32_t node) const { return rows + row_begin[node]; }
};

// The same, with arrays of its own.
struct NodeAssignment {
  std::vector<int64_t> row_begin;
  std::vector<int32_t> rows;
  std::vector<float> weight;  // empty for all 1

  int64_t n_rows(int32_t node) const { return row_begin[node + 1] - row_begin[node]; }
  NodeRows view() const { return {row_begin.data(), rows.data(), weight.empty() ? nullptr : weight.data()}; }
};

NodeAssignment assign_to_nodes(const LabelTreeView& tree, const LabelMatrixView& labels,
                               const float* label_weight,  // per label, or null
                               int n_threads, const Progress& progress);

}  // namespace labeltree
