// Training of all labels at once for a margin between those of an example and all others.
#pragma once

#include <cstdint>

#include "core/examples.h"
#include "core/progress.h"
#include "model/block_arrays.h"

namespace labeltree {

// Minimises
//   l1 * |W|_1 + |W|^2 / 2 + C * sum_i weight_i * max over p, n of (1 + w_n.x_i - w_p.x_i)_+
// over the weights W of all labels, p being a label of example i and n one that it does not have, the bias
// being one more feature.
struct MaxMarginOptions {
  float C = 1;
  float l1 = 0.1f;
  float tol = 0.01f;  // of the duality gap, in units of the loss of an example
  int max_iter = 30;  // passes over the examples
  float bias = 1;     // the value of the bias feature; 0 for none
  float prune = 0;
  uint64_t seed = 0;
  int n_threads = 1;
};

struct MaxMarginReport {
  int64_t n_columns = 0;   // labels that were learned
  int64_t n_constant = 0;  // nodes with a constant score: the root, and labels that no or every example has
  int64_t n_unconverged = 0;  // 1 if max_iter stopped the solver
  int64_t n_row_visits = 0;   // searches among all labels
  int64_t n_passes = 0;
  int64_t n_pruned = 0;
  int64_t n_active = 0;    // dual variables that are not 0, of all examples
  double duality_gap = 0;  // how far the objective, before pruning, may be from its minimum
  double objective = 0;
};

// For the flat tree: block 1 has a column per label.
BlockArrays train_max_margin(const Examples& examples, const MaxMarginOptions& options, Progress& progress,
                             MaxMarginReport& report);

}  // namespace labeltree
