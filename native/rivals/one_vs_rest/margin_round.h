// Examples whose dual variables take a step together.
#pragma once

#include <cstdint>
#include <vector>

#include "rivals/one_vs_rest/margin_projection.h"

namespace labeltree {

// A label whose dual variable is not 0, or may become so.
struct ActiveLabel {
  int32_t label;
  bool is_positive;
  float strength = 0;  // the size of the dual variable: an example pulls its labels up and pushes others down
  float score = 0;     // by the weights as they are
  float step = 0;      // what the example's features, times this, add to the sums of the label
};

// A row that something can be learned from.
struct MarginExample {
  std::vector<int32_t> positive;
  std::vector<ActiveLabel> active;
  float cost;
  bool is_resting = false;  // it takes no step
};

class MarginRound {
 public:
  explicit MarginRound(int32_t n_labels) : sharing_(n_labels) {}

  // Chooses steps from scores, one example after the other. Each sees what the steps of those before it do to
  // its scores, as if no threshold held weights back: that is the most they can do, so the dual objective
  // never gets worse. products: of the rows of all n examples with each other.
  void step(MarginExample* examples, int64_t n, const float* products);

 private:
  struct Share {
    int64_t example;
    const ActiveLabel* active;
  };

  // products: of the example's row with all of the round.
  void step_one(MarginExample& example, const float* products, double squared_norm);

  std::vector<std::vector<Share>> sharing_;  // per label, where it is active in the round
  MarginProjection projection_;
};

}  // namespace labeltree
