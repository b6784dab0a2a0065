// One problem of any number of classes, solved by dual coordinate descent.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned_floats.h"
#include "core/progress.h"
#include "lanes/kernels.h"
#include "training/group_solver.h"
#include "training/row_schedule.h"

namespace labeltree {

// To which part each row is of which class: row i of column[k] to the part share[k], for k from begin[i] up
// to begin[i + 1]; its parts sum to 1.
struct ClassShares {
  std::vector<int64_t> begin{0};
  std::vector<int32_t> column;
  std::vector<float> share;

  void add(int32_t of_column, float part) {
    column.push_back(of_column);
    share.push_back(part);
  }
  void end_row() { begin.push_back(static_cast<int64_t>(column.size())); }
};

// Minimises  sum_j |w_j|^2 / 2 - sum_i cost_i * sum_j share_ij * log(softmax_j(w.x_i)). One per worker: it
// keeps its memory.
class SoftmaxDescent {
 public:
  // A row moves if it violates its optimality conditions by more than tol / 2; max_iter bounds the passes
  // over the rows.
  SoftmaxDescent(float tol, int max_iter) : tol_(tol), max_iter_(max_iter) {}

  // Of `problem`, `positive` and lane_cost play no part. The result depends only on the arguments.
  void run(const GroupProblem& problem, const ClassShares& shares, uint64_t seed, const Progress& progress);

  // Classes are kept in chunks of 32. In a chunk class j is lane j; the label y of all rows is 1.
  int n_chunks() const { return n_chunks_; }
  LaneWeights learned(int chunk) const {
    return {weights_.data() + chunk * chunk_size_, alpha_.data() + chunk * alpha_size_, lanes_};
  }

  bool converged() const { return converged_; }
  int64_t n_row_visits() const { return n_row_visits_; }
  int64_t n_passes() const { return schedule_.n_passes(); }

 private:
  float tol_;
  int max_iter_;
  AlignedFloats weights_, alpha_, scratch_;
  RowSchedule schedule_;
  int lanes_ = 0, n_chunks_ = 0;
  int64_t chunk_size_ = 0, alpha_size_ = 0, n_row_visits_ = 0;
  bool converged_ = false;
};

}  // namespace labeltree
