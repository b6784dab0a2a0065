// Up to 32 binary problems over the same examples, learned together from one example after another.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned_floats.h"
#include "core/progress.h"
#include "lanes/kernels.h"
#include "training/block_solver.h"
#include "training/example_order.h"
#include "training/group_solver.h"

namespace labeltree {

// Throws std::invalid_argument unless the solver is an incremental one that takes the loss, and the sums of
// AdaGrad start above 0.
void check_incremental(Solver solver, Loss loss, float initial_accumulator);

// With g the gradient of an example's weighted loss and r the rate, an example makes of the weights w
//   AdaGrad:  w - r * g / sqrt(initial_accumulator + the sum of g^2 so far), feature by feature;
//   SGD:      (1 - r * regularization) * w - r * g;
//   FOBOS:    w - r * g, then shrunk towards 0 by r * regularization.
// The rate is the learning rate, or falls from it to 0 in a straight line. In every epoch the examples come
// in another order, which is the same for all blocks: the model is the one that a single pass over all
// examples per epoch, updating all nodes of the tree, would give.
class IncrementalSolver final : public GroupSolver {
 public:
  explicit IncrementalSolver(const SolverOptions& options) : options_(options) {}

  // The order depends on the seed of the tree, not on that of the group.
  void run(const GroupProblem& problem, uint64_t seed, const Progress& progress) override;

  LaneWeights learned() const override { return {weights_.data(), nullptr, lanes_}; }
  int n_unconverged() const override { return 0; }
  int64_t n_row_visits() const override { return n_row_visits_; }
  int64_t n_passes() const override { return options_.epochs; }

 private:
  int64_t schedule(int64_t done, int64_t total, int64_t n_rows);
  void fold_penalty(int64_t n_features);

  SolverOptions options_;
  AlignedFloats weights_, squares_;
  std::vector<double> shrunk_, penalty_;
  std::vector<float> rate_, example_weight_;
  ExampleOrder order_;
  int lanes_ = 0;
  int64_t n_row_visits_ = 0;
};

}  // namespace labeltree
