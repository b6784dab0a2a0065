// Up to 32 binary problems over the same examples with a penalty that makes weights 0, solved together by
// coordinate descent over features.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned_floats.h"
#include "core/progress.h"
#include "lanes/kernels.h"
#include "training/feature_columns.h"
#include "training/group_solver.h"

namespace labeltree {

// Each problem minimises  |w|_1 + sum_i cost_i * loss(y_i * w.x_i)  by proximal Newton steps: a round
// replaces the losses by parabolas, goes through the features, and takes as much of what they moved as leads
// down.
class PrimalDescent final : public GroupSolver {
 public:
  // A lane moves if that moves a score by more than tol / 10; max_iter bounds the rounds. `bias` is the value
  // of the last feature, 0 if it is no bias.
  PrimalDescent(Loss loss, float tol, int max_iter, float bias)
      : loss_(loss), tol_(tol), max_iter_(max_iter), bias_(bias) {}

  void run(const GroupProblem& problem, uint64_t seed, const Progress& progress) override;

  LaneWeights learned() const override { return {weights_.data(), nullptr, lanes_}; }
  int n_unconverged() const override { return __builtin_popcount(running_); }
  // Visits are counted by feature: as the number of rows with as many entries. In double, for the product of
  // two large counts may not fit into 64 bits.
  int64_t n_row_visits() const override {
    const auto n_entries = static_cast<double>(columns_.begin.back() + 1);
    return static_cast<int64_t>(static_cast<double>(n_entry_visits_) * static_cast<double>(n_rows_) /
                                n_entries);
  }
  int64_t n_passes() const override { return n_passes_; }

 private:
  void prepare(const GroupProblem& problem);
  void start_biases(const GroupProblem& problem);
  // Returns the lanes that moved.
  uint32_t pass_over(const std::vector<uint32_t>& features, const Progress& progress);
  void shorten_steps(uint32_t moved, const Progress& progress);
  void slopes(const Progress& progress, double* slope) const;

  Loss loss_;
  float tol_;
  int max_iter_;
  float bias_;
  FeatureColumns columns_;
  AlignedFloats weights_, before_, score_, step_, gradient_, curvature_;
  FeaturePass pass_;
  int64_t n_rows_ = 0;
  std::vector<uint32_t> order_, active_;  // features of a round, and those of them that moved
  std::vector<uint8_t> moved_, nap_;
  std::vector<int32_t> wake_;
  alignas(64) float share_[kMaxLanes];  // per lane, how much of the round's step is taken
  int lanes_ = 0;
  int64_t n_entry_visits_ = 0, n_passes_ = 0;
  uint32_t running_ = 0;  // lanes that have not converged
};

}  // namespace labeltree
