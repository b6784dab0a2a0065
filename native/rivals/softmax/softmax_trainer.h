// Training of hierarchical softmax: at every node, which of its children an example's one label is below.
#pragma once

#include <cstdint>

#include "core/examples.h"
#include "core/label_tree.h"
#include "core/progress.h"
#include "model/block_arrays.h"
#include "training/block_solver.h"

namespace labeltree {

// An example with several labels is as many examples with one label and a part of its weight each. These meet
// again where their labels are below the same child: a block sees the example once, with a share for each
// child. Each block minimises
//   sum_j |w_j|^2 / 2 - C * sum_i weight_i * sum_j share_ij * log(softmax_j(w.x_i)),
// and one of two children |w|^2 / 2 with the logistic loss instead, w being the first child's weights and -w
// the other's, which are not stored. Examples without labels have no part.
//
// Of `options`, loss, penalty, solver, joint_siblings and block_C play no part. The arrays are those of the
// link softmax: see model/block_store.h.
BlockArrays train_softmax(const LabelTreeView& tree, const Examples& examples, const SolverOptions& options,
                          Progress& progress, TrainingReport& report);

}  // namespace labeltree
