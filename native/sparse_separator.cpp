#include "sparse_separator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace labeltree {

namespace {

constexpr int kMostPasses = 10;         // of the features in a round
constexpr double kDescent = 0.01;       // the share of the promised descent that a step must bring
constexpr double kShortestStep = 1e-6;  // as a share of the whole
constexpr double kLongestMove = 10;     // of a weight at a time: parabolas far off are no guide
constexpr double kLeastCurvature = 1e-12;

// How far the slope of a feature's losses is from what is best for its weight, the penalty's slope being 1.
double violation_of(double slope, double weight) {
  if (weight > 0) return std::fabs(slope + 1);
  if (weight < 0) return std::fabs(slope - 1);
  return std::max(std::fabs(slope) - 1, 0.0);
}

// log(1 + exp(-margin)) without overflow.
double logistic_loss(double margin) {
  return margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
}

}  // namespace

void SparseSeparator::run(const FeatureColumns& columns, const std::vector<uint8_t>& positive,
                          const std::vector<double>& cost, uint64_t seed, const Progress& progress) {
  columns_ = &columns;
  positive_ = &positive;
  cost_ = &cost;
  random_ = Random(seed);
  const size_t n_features = columns.begin.size() - 1, n_rows = positive.size();
  for (auto* of_feature : {&weight_, &step_, &gradient_, &curvature_}) of_feature->assign(n_features, 0.0);
  for (auto* of_row : {&score_, &score_step_, &slope_, &row_curvature_}) of_row->assign(n_rows, 0.0);
  largest_violation_ = std::numeric_limits<double>::infinity();

  double first = 0, enough = 1;
  for (n_rounds_ = 0; n_rounds_ < max_iter_; ++n_rounds_) {
    progress.check();
    start_round();
    const double violation = look_at_all();
    if (n_rounds_ == 0) first = violation;
    if (violation <= tol_ * first) break;
    if (descend(enough * first, progress) == 1) enough *= 0.25;
    if (!take_step()) break;
  }
}

void SparseSeparator::start_round() {
  for (size_t i = 0; i < score_.size(); ++i) {
    const bool is_positive = (*positive_)[i] != 0;
    const double wrong = 1 / (1 + std::exp(is_positive ? score_[i] : -score_[i]));
    slope_[i] = (*cost_)[i] * (is_positive ? -wrong : wrong);
    row_curvature_[i] = (*cost_)[i] * wrong * (1 - wrong);
  }
}

double SparseSeparator::look_at_all() {
  // A weight of 0 whose slope is this far from moving it is left out of the round.
  const double safe = 1 - largest_violation_ / static_cast<double>(std::max<size_t>(score_.size(), 1));
  double sum = 0, largest = 0;
  active_.clear();
  for (uint32_t f = 0; f < weight_.size(); ++f) {
    double slope = 0, curvature = kLeastCurvature;
    for (int64_t k = columns_->begin[f]; k < columns_->begin[f + 1]; ++k) {
      const int32_t row = columns_->row[k];
      const double value = columns_->value[k];
      slope += value * slope_[row];
      curvature += value * value * row_curvature_[row];
    }
    gradient_[f] = slope;
    curvature_[f] = curvature;
    if (weight_[f] == 0 && std::fabs(slope) < safe) continue;
    const double violation = violation_of(slope, weight_[f]);
    sum += violation;
    largest = std::max(largest, violation);
    active_.push_back(f);
  }
  largest_violation_ = largest;
  return sum;
}

int SparseSeparator::descend(double enough, const Progress& progress) {
  std::fill(score_step_.begin(), score_step_.end(), 0.0);
  size_t n_asked = active_.size();
  double last_largest = std::numeric_limits<double>::infinity();
  for (int pass = 1;; ++pass) {
    progress.check();
    random_.shuffle(active_.data(), static_cast<uint32_t>(n_asked));
    const double safe = 1 - last_largest / static_cast<double>(score_.size());
    double sum = 0, largest = 0;
    for (size_t s = 0; s < n_asked; ++s) {
      const uint32_t f = active_[s];
      const int64_t begin = columns_->begin[f], end = columns_->begin[f + 1];
      double slope = kLeastCurvature * step_[f];
      for (int64_t k = begin; k < end; ++k) slope += columns_->value[k] * slope_[columns_->row[k]];
      const double weight = weight_[f] + step_[f], curvature = curvature_[f];
      if (weight == 0 && std::fabs(slope) < safe) {
        std::swap(active_[s--], active_[--n_asked]);
        continue;
      }
      const double violation = violation_of(slope, weight);
      sum += violation;
      largest = std::max(largest, violation);
      // To where parabola and penalty are least together, which may be 0.
      double move = -weight;
      if (slope + 1 < curvature * weight) {
        move = -(slope + 1) / curvature;
      } else if (slope - 1 > curvature * weight) {
        move = -(slope - 1) / curvature;
      }
      if (std::fabs(move) < kLeastCurvature) continue;
      move = std::clamp(move, -kLongestMove, kLongestMove);
      step_[f] = move == -weight ? -weight_[f] : step_[f] + move;  // to 0 for sure, whatever rounding says
      for (int64_t k = begin; k < end; ++k) {
        const int32_t row = columns_->row[k];
        const double by = columns_->value[k] * move;
        score_step_[row] += by;
        slope_[row] += row_curvature_[row] * by;
      }
    }
    if (pass == kMostPasses) return pass;
    last_largest = largest;
    if (sum > enough) continue;
    if (n_asked == active_.size()) return pass;
    n_asked = active_.size();  // nearly done: ask those again that were left out
    last_largest = std::numeric_limits<double>::infinity();
  }
}

double SparseSeparator::loss(double share) const {
  double sum = 0;
  for (size_t i = 0; i < score_.size(); ++i) {
    const double score = score_[i] + share * score_step_[i];
    sum += (*cost_)[i] * logistic_loss((*positive_)[i] != 0 ? score : -score);
  }
  return sum;
}

bool SparseSeparator::take_step() {
  const auto penalty = [&](double share) {
    double change = 0;
    for (const uint32_t f : active_) {
      change += std::fabs(weight_[f] + share * step_[f]) - std::fabs(weight_[f]);
    }
    return change;
  };
  double promised = penalty(1);
  for (const uint32_t f : active_) promised += gradient_[f] * step_[f];
  const double before = loss(0);
  double share = 1;
  while (loss(share) - before + penalty(share) > kDescent * share * promised) {
    share /= 2;
    if (share < kShortestStep) {
      share = 0;
      break;
    }
  }
  for (const uint32_t f : active_) {
    weight_[f] += share * step_[f];
    step_[f] = 0;
  }
  for (size_t i = 0; i < score_.size(); ++i) score_[i] += share * score_step_[i];
  return share > 0;
}

}  // namespace labeltree
