// The rows of nodes as someone gave them: the arrays may come from a file.
#pragma once

#include "core/examples.h"
#include "core/label_tree.h"
#include "training/node_assignment.h"
#include "training/sibling_blocks.h"

namespace labeltree {

struct GivenAssignment {
  NodeRows view;
  int64_t n_row_begin, n_rows, n_weights;  // the lengths of its arrays
};

// Throws std::invalid_argument unless the blocks of the range can be trained from it: its arrays fit
// together, and the rows of their nodes ascend, are rows of the examples, and are rows of the parent as well.
void check_assignment(const GivenAssignment& given, const LabelTreeView& tree, const Examples& examples,
                      const BlockRange& range, int n_threads, const Progress& progress);

}  // namespace labeltree
