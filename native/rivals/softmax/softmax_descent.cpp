#include "rivals/softmax/softmax_descent.h"

#include <algorithm>

namespace labeltree {

void SoftmaxDescent::run(const GroupProblem& problem, const ClassShares& shares, uint64_t seed,
                         const Progress& progress) {
  const int64_t n_rows = problem.rows.n_rows();
  lanes_ = lanes_for(std::min(problem.n_columns, kMaxLanes));
  n_chunks_ = (problem.n_columns + lanes_ - 1) / lanes_;
  chunk_size_ = problem.rows.n_weights() * lanes_;
  alpha_size_ = n_rows * lanes_;
  weights_.reset(chunk_size_ * n_chunks_);
  alpha_.reset(alpha_size_ * n_chunks_);
  scratch_.reset(int64_t{5} * lanes_ * n_chunks_);
  n_row_visits_ = 0;
  schedule_.start(n_rows);

  SoftmaxPass pass;
  pass.rows = problem.rows.rows();
  pass.n_rows = n_rows;
  pass.squared_norm = problem.squared_norm;
  pass.single_norm = problem.single_norm;
  pass.cost = problem.cost;
  pass.share_begin = shares.begin.data();
  pass.share_class = shares.column.data();
  pass.share = shares.share.data();
  pass.weights = weights_.data();
  pass.chunk_size = chunk_size_;
  pass.alpha = alpha_.data();
  pass.scratch = scratch_.data();
  pass.n_chunks = n_chunks_;
  pass.n_classes = problem.n_columns;
  pass.moved = schedule_.moved();
  pass.tolerance = tol_ / 2;

  Random random(seed);
  converged_ = false;
  while (schedule_.n_passes() < max_iter_ && !converged_) {
    pass.any_moved = false;
    const int64_t n_asked = schedule_.pass(random, progress, [&](const uint32_t* order, int64_t n) {
      pass.order = order;
      pass.n_order = n;
      lane_kernels().softmax_pass(lanes_, pass);
    });
    n_row_visits_ += n_asked;
    schedule_.settle(pass.any_moved);
    converged_ = !pass.any_moved && n_asked == n_rows;
  }
}

}  // namespace labeltree
