#include "rivals/one_vs_rest/margin_projection.h"

#include <algorithm>

namespace labeltree {

namespace {

// Where a function that falls in straight lines between ascending break points, from 0 or more at the first
// of them to 0 or less at the last, is 0.
template <class Function>
double zero_between(const std::vector<double>& breaks, const Function& function) {
  const auto right =
      std::partition_point(breaks.begin(), breaks.end(), [&](double at) { return function(at) > 0; });
  if (right == breaks.begin()) return breaks.front();
  if (right == breaks.end()) return breaks.back();  // by rounding only
  const double left = right[-1], above = function(left), below = function(*right);
  return left + (*right - left) * (above / (above - below));
}

}  // namespace

const std::vector<float>& MarginProjection::solve(double cost) {
  const double balance = balancing_shift();
  const bool is_bounded = sum(true, balance) > cost;
  const double up = is_bounded ? shift_for(true, cost) : balance;
  const double down = is_bounded ? shift_for(false, cost) : -balance;
  solution_.clear();
  for (const Term& term : terms_) {
    const double above = term.at - (term.is_positive ? up : down);
    solution_.push_back(static_cast<float>(std::max(above, 0.0) / term.curvature));
  }
  return solution_;
}

double MarginProjection::sum(bool is_positive, double shift) const {
  double sum = 0;
  for (const Term& term : terms_) {
    if (term.is_positive == is_positive) sum += std::max(term.at - shift, 0.0) / term.curvature;
  }
  return sum;
}

// What makes the sums of both kinds equal if it is taken from one and added to the other.
double MarginProjection::balancing_shift() {
  breaks_.clear();
  for (const Term& term : terms_) breaks_.push_back(term.is_positive ? term.at : -term.at);
  std::sort(breaks_.begin(), breaks_.end());
  return zero_between(breaks_, [&](double shift) { return sum(true, shift) - sum(false, -shift); });
}

double MarginProjection::shift_for(bool is_positive, double target) {
  breaks_.clear();
  double slope = 0;
  for (const Term& term : terms_) {
    if (term.is_positive != is_positive) continue;
    breaks_.push_back(term.at);
    slope += 1 / term.curvature;
  }
  std::sort(breaks_.begin(), breaks_.end());
  const double missing = target - sum(is_positive, breaks_.front());
  if (missing > 0) return breaks_.front() - missing / slope;
  return zero_between(breaks_, [&](double shift) { return sum(is_positive, shift) - target; });
}

}  // namespace labeltree
