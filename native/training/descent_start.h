// Where dual coordinate descent starts, if its loss is made of parabolas.
#pragma once

#include <cstdint>
#include <vector>

#include "training/group_solver.h"

namespace labeltree {

// Of all dual variables that are one number times the cost of the example for the positive examples of a
// problem, and another for the negative ones, finds the best two for the loss (1 - margin)^2, without
// negative ones. Most negative examples of a rare label then need no step at all: one by one, the first of
// them would take the weight of all.
//
// One per worker: it keeps its memory from one group to the next.
class DescentStart {
 public:
  // Sets all dual variables, which may hold anything before, and the weights that follow from them, which
  // hold 0.
  void set(const GroupProblem& problem, int lanes, float* weights, float* alpha);

 private:
  std::vector<double> total_;  // by feature
};

}  // namespace labeltree
