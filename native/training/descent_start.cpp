#include "training/descent_start.h"

#include <algorithm>

#include "lanes/kernels.h"

namespace labeltree {

namespace {

// Calls visit(feature, value) for every feature of a row, the dense ones after the others.
template <class Visit>
void visit_row(const LocalBlock& rows, int64_t row, const Visit& visit) {
  for (int64_t k = rows.row_begin[row]; k < rows.row_begin[row + 1]; ++k) visit(rows.index[k], rows.value[k]);
  for (int32_t d = 0; d < rows.n_dense; ++d) {
    visit(rows.n_features() + d, rows.dense[row * rows.n_dense + d]);
  }
}

// Calls visit(row, lane) for every positive example of a problem.
template <class Visit>
void visit_positive(const GroupProblem& problem, const Visit& visit) {
  for (int64_t row = 0; row < problem.rows.n_rows(); ++row) {
    for (uint32_t left = problem.positive[row]; left != 0; left &= left - 1) visit(row, __builtin_ctz(left));
  }
}

// Sums over examples of one class of a problem, each times its share. P is the sum of the examples.
struct ClassSums {
  double gain = 0;     // of the shares
  double penalty = 0;  // of share^2 / (2 cost)
  double square = 0;   // P * P
  double product = 0;  // P * the sum of all examples
};

struct Start {
  float positive, negative;
};

// The p and n from 0 on with the smallest |p P - n N|^2 / 2 + p^2 penalty / 2 + n^2 penalty / 2 - p gain -
// n gain, with the penalty and the gain of the positive examples, P, and of the negative ones, N.
Start best_start(const ClassSums& positive, const ClassSums& all) {
  const double cross = positive.product - positive.square;
  const double p_gain = positive.gain, n_gain = std::max(all.gain - p_gain, 0.0);
  const double p_bend = positive.square + positive.penalty;
  const double n_bend =
      std::max(all.square - positive.square - 2 * cross, 0.0) + std::max(all.penalty - positive.penalty, 0.0);
  const double determinant = p_bend * n_bend - cross * cross;
  if (determinant > 1e-9 * p_bend * n_bend) {
    const double p = (p_gain * n_bend + cross * n_gain) / determinant;
    const double n = (n_gain * p_bend + cross * p_gain) / determinant;
    if (p > 0 && n > 0) return {static_cast<float>(p), static_cast<float>(n)};
  }
  // One of them is 0: the one that helps less.
  const bool keeps_positive = p_gain * p_gain * n_bend >= n_gain * n_gain * p_bend;
  if (keeps_positive) return {p_bend > 0 ? static_cast<float>(p_gain / p_bend) : 0.0f, 0.0f};
  return {0.0f, n_bend > 0 ? static_cast<float>(n_gain / n_bend) : 0.0f};
}

}  // namespace

void DescentStart::set(const GroupProblem& problem, int lanes, float* weights, float* alpha) {
  const LocalBlock& rows = problem.rows;
  const int64_t n_rows = rows.n_rows(), n_weights = rows.n_weights();
  // Shares of all costs, so that sums are no larger than the largest value of a feature.
  double total_cost = 0;
  for (int64_t row = 0; row < n_rows; ++row) total_cost += problem.cost[row];
  const double scale = 1 / total_cost;
  const auto share = [&](int64_t row) { return static_cast<float>(scale * problem.cost[row]); };
  const auto penalty = [&](int64_t row, int lane) {
    const double of_row = share(row);
    return 0.5 * of_row * of_row / problem.lane_cost[row * lanes + lane];
  };

  ClassSums all, positive[kMaxLanes];
  double all_penalty[kMaxLanes];
  total_.assign(n_weights, 0.0);
  for (int64_t row = 0; row < n_rows; ++row) {
    const double of_row = share(row);
    visit_row(rows, row, [&](int64_t f, float value) { total_[f] += of_row * value; });
    all.gain += of_row;
    all.square += of_row * of_row * problem.single_norm[row];
  }
  for (const double sum : total_) all.square += sum * sum;
  for (int j = 0; j < problem.n_columns; ++j) {
    all_penalty[j] = 0.5 * scale * all.gain;
    if (problem.lane_cost == nullptr) continue;
    all_penalty[j] = 0;
    for (int64_t row = 0; row < n_rows; ++row) all_penalty[j] += penalty(row, j);
  }

  // The sums of the positive examples first.
  visit_positive(problem, [&](int64_t row, int j) {
    const float of_row = share(row);
    visit_row(rows, row, [&](int64_t f, float value) { weights[f * lanes + j] += of_row * value; });
  });
  visit_positive(problem, [&](int64_t row, int j) {
    const double of_row = share(row);
    double square = of_row * problem.single_norm[row], product = square;
    visit_row(rows, row, [&](int64_t f, float value) {
      square += static_cast<double>(value) * weights[f * lanes + j];
      product += value * total_[f];
    });
    positive[j].gain += of_row;
    positive[j].penalty += problem.lane_cost == nullptr ? 0.5 * scale * of_row : penalty(row, j);
    positive[j].square += of_row * square;
    positive[j].product += of_row * product;
  });

  float of_positive[kMaxLanes] = {}, of_negative[kMaxLanes] = {}, both[kMaxLanes] = {};
  for (int j = 0; j < problem.n_columns; ++j) {
    all.penalty = all_penalty[j];
    const Start start = best_start(positive[j], all);
    of_positive[j] = start.positive;
    of_negative[j] = start.negative;
    both[j] = start.positive + start.negative;
  }
  for (int64_t f = 0; f < n_weights; ++f) {
    float* w = weights + f * lanes;
    const auto sum = static_cast<float>(total_[f]);
    for (int j = 0; j < lanes; ++j) w[j] = both[j] * w[j] - of_negative[j] * sum;
  }
  for (int64_t row = 0; row < n_rows; ++row) {
    const float of_row = share(row);
    for (int j = 0; j < lanes; ++j) alpha[row * lanes + j] = of_row * of_negative[j];
  }
  visit_positive(problem, [&](int64_t row, int j) { alpha[row * lanes + j] = share(row) * of_positive[j]; });
}

}  // namespace labeltree
