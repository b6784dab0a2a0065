// One step of the dual variables of one example.
#pragma once

#include <vector>

namespace labeltree {

// An example pulls some of its labels up and pushes some others down, each with a strength of at least 0; the
// strengths of both kinds have the same sum, which is at most `cost`. A step minimises over new strengths
//   sum_k slope_k * (new_k - strength_k) + curvature_k / 2 * (new_k - strength_k)^2
// exactly: all slopes of a kind are shifted alike, and sorted break points tell how far.
class MarginProjection {
 public:
  void clear() { terms_.clear(); }
  void add(bool is_positive, double strength, double slope, double curvature) {
    terms_.push_back({curvature * strength - slope, curvature, is_positive});
  }
  // The new strengths, in the order in which the old ones were added; there is one of either kind at least.
  const std::vector<float>& solve(double cost);

 private:
  // The new strength is (at - shift) / curvature, or 0 where that is negative.
  struct Term {
    double at, curvature;
    bool is_positive;
  };

  double sum(bool is_positive, double shift) const;
  double balancing_shift();
  double shift_for(bool is_positive, double target);

  std::vector<Term> terms_;
  std::vector<double> breaks_;
  std::vector<float> solution_;
};

}  // namespace labeltree
