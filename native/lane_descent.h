// Up to 32 binary problems over the same examples, solved together by dual coordinate descent.
#pragma once

#include <cstdint>
#include <vector>

#include "aligned_floats.h"
#include "lane_kernels.h"
#include "local_block.h"
#include "progress.h"

namespace labeltree {

// Each problem minimises  |w|^2 / 2 + sum_i cost_i * loss(y_i * w.x_i).
struct DescentProblem {
  const LocalBlock& rows;
  const float* squared_norm;  // per row, with its single features
  const float* single_norm;   // per row, of its single features, which are not in `rows`
  const float* cost;          // per row
  Loss loss;
  float tol;     // a lane moves if it violates its optimality condition by more than half of this
  int max_iter;  // passes over the rows
};

class LaneDescent {
 public:
  // Solves n_columns problems; bit j of positive[i] is the class of row i in problem j.
  void run(const DescentProblem& problem, const std::vector<uint32_t>& positive, int n_columns, uint64_t seed,
           const Progress& progress);

  // The weights of problem j: weights()[feature * lanes() + j].
  const float* weights() const { return weights_.data(); }
  // The dual variable of row i in problem j: alpha()[i * lanes() + j]. Never negative.
  const float* alpha() const { return alpha_.data(); }
  int lanes() const { return lanes_; }
  int n_unconverged() const { return __builtin_popcount(running_); }
  int64_t n_row_visits() const { return n_row_visits_; }
  int64_t n_passes() const { return n_passes_; }

 private:
  AlignedFloats weights_, alpha_;
  std::vector<uint32_t> order_;
  std::vector<uint8_t> moved_, nap_;
  std::vector<int32_t> wake_;
  int lanes_ = 0;
  int64_t n_row_visits_ = 0, n_passes_ = 0;
  uint32_t running_ = 0;  // lanes that have not converged
};

}  // namespace labeltree
