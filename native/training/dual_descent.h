// Up to 32 binary problems over the same examples, solved together by dual coordinate descent.
#pragma once

#include <cstdint>

#include "core/aligned_floats.h"
#include "core/progress.h"
#include "lanes/kernels.h"
#include "training/descent_start.h"
#include "training/group_solver.h"
#include "training/row_schedule.h"

namespace labeltree {

// Each problem minimises  |w|^2 / 2 + sum_i cost_i * loss(y_i * w.x_i).
class DualDescent final : public GroupSolver {
 public:
  // A lane moves if it violates its optimality condition by more than tol / 2; max_iter bounds the passes
  // over the rows. A start near the optimum counts as some of them.
  DualDescent(Loss loss, float tol, int max_iter) : loss_(loss), tol_(tol), max_iter_(max_iter) {}

  void run(const GroupProblem& problem, uint64_t seed, const Progress& progress) override;

  // The alpha are the dual variables; negative only for the squared loss.
  LaneWeights learned() const override { return {weights_.data(), alpha_.data(), lanes_}; }
  int n_unconverged() const override { return __builtin_popcount(running_); }
  int64_t n_row_visits() const override { return n_row_visits_; }
  int64_t n_passes() const override { return n_passes_of_start_ + schedule_.n_passes(); }

 private:
  // After it, seven passes are as good as ten from 0.
  static constexpr int kPassesOfStart = 3;

  Loss loss_;
  float tol_;
  int max_iter_;
  AlignedFloats weights_, alpha_;
  DescentStart start_;
  RowSchedule schedule_;
  int lanes_ = 0;
  int n_passes_of_start_ = 0;
  int64_t n_row_visits_ = 0;
  uint32_t running_ = 0;  // lanes that have not converged
};

}  // namespace labeltree
