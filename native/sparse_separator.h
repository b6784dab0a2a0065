// A linear separator with few weights: logistic regression with an L1 penalty, for one problem at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "feature_columns.h"
#include "progress.h"
#include "random.h"

namespace labeltree {

// Minimises  |w|_1 + sum_i cost_i * log(1 + exp(-y_i * w.x_i))  by proximal Newton steps (newGLMNET): a round
// replaces the losses by parabolas and goes through the features one by one, over and over; then it takes as
// much of what they moved as leads down. Vector lanes have no place here, where a problem comes alone.
class SparseSeparator {
 public:
  // It stops when the optimality conditions are violated by no more than `tol` of what they were at first, in
  // sum over the features; max_iter bounds the rounds.
  SparseSeparator(double tol, int max_iter) : tol_(tol), max_iter_(max_iter) {}

  // positive, cost: per row. The result depends on nothing but the arguments.
  void run(const FeatureColumns& columns, const std::vector<uint8_t>& positive,
           const std::vector<double>& cost, uint64_t seed, const Progress& progress);

  const std::vector<double>& weights() const { return weight_; }
  int n_rounds() const { return n_rounds_; }

 private:
  // Slopes and curvatures of the losses at the scores.
  void start_round();
  // Leaves in active_ the features that may want to move; returns by how much all of them violate.
  double look_at_all();
  // Moves features until they want to move no more than `enough`, in sum; returns the passes it took.
  int descend(double enough, const Progress& progress);
  // Takes the step, or a part of it; false if no part leads down.
  bool take_step();
  double loss(double share) const;

  double tol_;
  int max_iter_;
  const FeatureColumns* columns_ = nullptr;
  const std::vector<uint8_t>* positive_ = nullptr;
  const std::vector<double>* cost_ = nullptr;
  Random random_{0};
  std::vector<double> weight_, step_, gradient_, curvature_;  // per feature
  std::vector<double> score_, score_step_;                    // per row
  std::vector<double> slope_, row_curvature_;                 // per row, of the parabolas where they are now
  std::vector<uint32_t> active_;
  double largest_violation_ = 0;
  int n_rounds_ = 0;
};

}  // namespace labeltree
