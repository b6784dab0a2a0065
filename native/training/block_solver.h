// Training of the node classifiers: sibling blocks, children as vector lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "core/progress.h"
#include "lanes/kernels.h"
#include "model/block_arrays.h"
#include "training/node_assignment.h"
#include "training/sibling_blocks.h"

namespace labeltree {

enum class Penalty : int { l2 = 0, l1 = 1 };

// By descent, each node minimises  penalty(w) + C * sum_i weight_i * loss(y_i * w.x_i),  the bias being one
// more feature; the penalty is |w|^2 / 2 or |w|_1.
struct SolverOptions {
  Solver solver = Solver::descent;
  Loss loss = Loss::squared_hinge;
  Penalty penalty = Penalty::l2;
  // With the logistic loss and the penalty l2 only: small blocks learn codes of children. See
  // model/block_arrays.h.
  bool joint_siblings = false;
  float C = 1;
  std::vector<float> block_C;  // a C for each block in place of that; or empty
  // Twice the largest violation of the optimality conditions, in units of the margin; with l1, ten times the
  // most that a weight still wants to move a score.
  float tol = 0.2f;
  int max_iter = 10;  // passes over the examples, or searches among them
  float l1 = 0;  // of the solver `sparse`: see training/sparse_hinge.h, which also says what tol is there
  // Of the incremental solvers: see training/incremental_solver.h.
  float learning_rate = 1;
  bool falling_rate = true;
  float initial_accumulator = 1;
  int epochs = 3;
  float regularization = 0;
  float bias = 1;  // the value of the bias feature; 0 for none
  float prune = 0.1f;
  uint64_t seed = 0;
  int n_threads = 1;
};

struct TrainingReport {
  int64_t n_columns = 0;      // binary problems solved
  int64_t n_unconverged = 0;  // of them, that did not come to their end, mostly because of max_iter
  int64_t n_constant = 0;     // nodes whose examples are all of one class: they have a constant score
  int64_t n_row_visits = 0;   // rows visited, summed over passes and column groups
  int64_t n_pruned = 0;       // weights that were dropped
  int64_t n_joint = 0;        // joint blocks
  int64_t n_passes = 0;       // passes over its rows that the slowest problem took
};

// Trains the blocks of a range from the rows of the nodes, which assign_to_nodes() made with the labels'
// weights. A positive example of a node counts as much as the heaviest of its labels below the node.
//
// Bit for bit the same as these blocks among all: who trains the others, if anybody, does not matter. The
// arrays are those of a tree that has only these blocks: what is counted starts at 0, and `bias` has the
// nodes of the range, which are next to each other.
BlockArrays train_blocks(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
                         const BlockRange& range, const SolverOptions& options, Progress& progress,
                         TrainingReport& report);

}  // namespace labeltree
