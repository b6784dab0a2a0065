#include "training/dual_descent.h"

#include <algorithm>

namespace labeltree {

void DualDescent::run(const GroupProblem& problem, uint64_t seed, const Progress& progress) {
  const int n_columns = problem.n_columns;
  const int64_t n_rows = problem.rows.n_rows();
  lanes_ = lanes_for(n_columns);
  weights_.reset(problem.rows.n_weights() * lanes_);
  n_passes_of_start_ = 0;
  if (loss_ == Loss::squared_hinge || loss_ == Loss::squared) {
    n_passes_of_start_ = std::min(kPassesOfStart, max_iter_ - 1);
    alpha_.reserve(n_rows * lanes_);
    start_.set(problem, lanes_, weights_.data(), alpha_.data());
  } else {
    alpha_.reset(n_rows * lanes_);
  }
  n_row_visits_ = 0;
  schedule_.start(n_rows);

  DescentPass pass;
  pass.rows = problem.rows.rows();
  pass.squared_norm = problem.squared_norm;
  pass.single_norm = problem.single_norm;
  pass.cost = problem.cost;
  pass.lane_cost = problem.lane_cost;
  pass.positive = problem.positive.data();
  pass.weights = weights_.data();
  pass.alpha = alpha_.data();
  pass.moved = schedule_.moved();
  pass.used = running_ = n_columns == 32 ? ~0u : (1u << n_columns) - 1;
  pass.tolerance = tol_ / 2;

  Random random(seed);
  while (n_passes() < max_iter_ && running_ != 0) {
    pass.moved_lanes = 0;
    const int64_t n_asked = schedule_.pass(random, progress, [&](const uint32_t* order, int64_t n) {
      pass.order = order;
      pass.n_order = n;
      lane_kernels().descent_pass(loss_, lanes_, pass);
    });
    n_row_visits_ += n_asked;
    schedule_.settle(pass.moved_lanes != 0);
    // A lane has converged when no row moved it since all rows were asked.
    running_ = n_asked == n_rows ? pass.moved_lanes : running_ | pass.moved_lanes;
  }
}

}  // namespace labeltree
