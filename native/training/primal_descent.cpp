#include "training/primal_descent.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace labeltree {

namespace {

// Rows or features between two looks at whether to stop.
constexpr int64_t kPerCall = 8192;
// A feature whose lanes did not move is passed over once, then twice, then four times, and so on up to this.
constexpr int kLongestNap = 8;
// How often a round goes through the features it moved: more often the nearer it is to the end, when the
// parabolas fit.
constexpr int64_t kRoundsPerSweep = 4, kMostSweeps = 32;
// A step is short enough where the slope along it, negative at first, has not risen above this share of that.
constexpr double kRise = 0.25;
constexpr int kShortenings = 12;

template <class Body>
void in_parts(int64_t n, const Progress& progress, const Body& body) {
  for (int64_t begin = 0; begin < n; begin += kPerCall) {
    progress.check();
    body(begin, std::min(n, begin + kPerCall));
  }
}

}  // namespace

void PrimalDescent::run(const GroupProblem& problem, uint64_t seed, const Progress& progress) {
  prepare(problem);
  const int32_t n_features = problem.rows.n_features();
  const int32_t bias_feature = bias_ != 0 ? n_features - 1 : -1;
  Random random(seed);
  while (n_passes_ < max_iter_ && running_ != 0) {
    in_parts(n_rows_, progress, [&](int64_t begin, int64_t end) {
      lane_kernels().start_round(loss_, lanes_, pass_.losses, begin, end, share_);
    });
    std::fill(share_, share_ + lanes_, 1.0f);
    std::fill(moved_.begin(), moved_.end(), 0);
    order_.clear();
    for (int32_t f = 0; f < n_features; ++f) {
      if (f != bias_feature && wake_[f] <= n_passes_) order_.push_back(static_cast<uint32_t>(f));
    }
    random.shuffle(order_.data(), static_cast<uint32_t>(order_.size()));
    const bool all_asked = static_cast<int32_t>(order_.size()) == n_features - (bias_ != 0);
    // The bias first: other features need not make up for it.
    if (bias_ != 0) order_.insert(order_.begin(), static_cast<uint32_t>(bias_feature));
    const uint32_t moved = pass_over(order_, progress);
    ++n_passes_;
    // A lane has converged when no feature moved it since all features were asked.
    running_ = all_asked ? moved : running_ | moved;
    if (moved == 0) {
      std::fill(wake_.begin(), wake_.end(), 0);  // nothing moved, but perhaps not everybody was asked
      continue;
    }
    active_.clear();
    for (const uint32_t f : order_) {
      if (moved_[f]) active_.push_back(f);
      nap_[f] = moved_[f] ? 0 : std::clamp(2 * nap_[f], 1, kLongestNap);
      wake_[f] = static_cast<int32_t>(n_passes_ + nap_[f]);
    }
    const int64_t n_sweeps = std::min(n_passes_ / kRoundsPerSweep, kMostSweeps);
    for (int64_t sweep = 0; sweep < n_sweeps; ++sweep) {
      random.shuffle(active_.data(), static_cast<uint32_t>(active_.size()));
      if (pass_over(active_, progress) == 0) break;
    }
    shorten_steps(moved, progress);
  }
}

void PrimalDescent::prepare(const GroupProblem& problem) {
  const int32_t n_features = problem.rows.n_features();
  const int n_columns = problem.n_columns;
  n_rows_ = problem.rows.n_rows();
  lanes_ = lanes_for(n_columns);
  running_ = n_columns == 32 ? ~0u : (1u << n_columns) - 1;
  n_passes_ = n_entry_visits_ = 0;
  columns_.assign(problem.rows);
  for (AlignedFloats* matrix : {&weights_, &before_}) matrix->reset(int64_t{n_features} * lanes_);
  for (AlignedFloats* matrix : {&score_, &step_, &gradient_, &curvature_}) matrix->reset(n_rows_ * lanes_);
  moved_.assign(n_features, 0);
  nap_.assign(n_features, 0);
  wake_.assign(n_features, 0);
  std::fill(share_, share_ + lanes_, 1.0f);

  pass_.features = columns_.view();
  pass_.largest = columns_.largest.data();
  pass_.losses = {problem.cost, problem.lane_cost, problem.positive.data(), score_.data(),
                  step_.data(), gradient_.data(),  curvature_.data()};
  pass_.weights = weights_.data();
  pass_.before = before_.data();
  pass_.used = running_;
  pass_.tolerance = tol_ / 10;
  pass_.moved = moved_.data();
  if (bias_ != 0) start_biases(problem);
}

// With the bias that would be best if there were no features, and no penalty.
void PrimalDescent::start_biases(const GroupProblem& problem) {
  float* bias = weights_.data() + static_cast<int64_t>(problem.rows.n_features() - 1) * lanes_;
  for (int lane = 0; lane < problem.n_columns; ++lane) {
    double cost[2] = {0, 0};
    for (int64_t i = 0; i < n_rows_; ++i) {
      cost[problem.positive[i] >> lane & 1] +=
          problem.lane_cost != nullptr ? problem.lane_cost[i * lanes_ + lane] : problem.cost[i];
    }
    bias[lane] = static_cast<float>(lane_kernels().best_score(loss_, cost[1], cost[0])) / bias_;
    for (int64_t i = 0; i < n_rows_; ++i) score_.data()[i * lanes_ + lane] = bias[lane] * bias_;
  }
}

uint32_t PrimalDescent::pass_over(const std::vector<uint32_t>& features, const Progress& progress) {
  pass_.moved_lanes = 0;
  in_parts(static_cast<int64_t>(features.size()), progress, [&](int64_t begin, int64_t end) {
    pass_.order = features.data() + begin;
    pass_.n_order = end - begin;
    lane_kernels().feature_pass(lanes_, pass_);
  });
  for (const uint32_t f : features) n_entry_visits_ += columns_.begin[f + 1] - columns_.begin[f];
  return pass_.moved_lanes;
}

// The parabolas are no bounds: a lane whose losses rise again before the end of its step takes less of it.
void PrimalDescent::shorten_steps(uint32_t moved, const Progress& progress) {
  double first[kMaxLanes], slope[kMaxLanes];
  std::fill(share_, share_ + lanes_, 0.0f);
  slopes(progress, first);
  std::fill(share_, share_ + lanes_, 1.0f);
  uint32_t too_long = moved, shortened = 0;
  for (int attempt = 0;; ++attempt) {
    slopes(progress, slope);
    for (uint32_t left = too_long; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      if (slope[lane] <= -kRise * std::min(first[lane], 0.0)) {
        too_long &= ~(1u << lane);
        continue;
      }
      // Where a straight line between the slopes crosses 0, if that is neither too near nor too far.
      const double secant = share_[lane] * -first[lane] / (slope[lane] - first[lane]);
      const double next = std::clamp(secant, 0.1 * share_[lane], 0.7 * share_[lane]);
      share_[lane] = attempt == kShortenings || !(first[lane] < 0) ? 0.0f : static_cast<float>(next);
      shortened |= 1u << lane;
    }
    if (too_long == 0 || attempt == kShortenings) break;
  }
  if (shortened == 0) return;
  for (const uint32_t f : active_) {
    float* weights = weights_.data() + static_cast<int64_t>(f) * lanes_;
    const float* before = before_.data() + static_cast<int64_t>(f) * lanes_;
    for (uint32_t left = shortened; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      weights[lane] = before[lane] + share_[lane] * (weights[lane] - before[lane]);
    }
  }
}

// Of losses and penalty along the round's step, at share_ of it: coming from the left, at 0 going to the
// right.
void PrimalDescent::slopes(const Progress& progress, double* slope) const {
  std::fill(slope, slope + lanes_, 0.0);
  in_parts(n_rows_, progress, [&](int64_t begin, int64_t end) {
    alignas(64) float part[kMaxLanes] = {};
    lane_kernels().slope_along_step(loss_, lanes_, pass_.losses, begin, end, share_, part);
    for (int lane = 0; lane < lanes_; ++lane) slope[lane] += part[lane];
  });
  for (const uint32_t f : active_) {
    const float* weights = weights_.data() + static_cast<int64_t>(f) * lanes_;
    const float* before = before_.data() + static_cast<int64_t>(f) * lanes_;
    for (int lane = 0; lane < lanes_; ++lane) {
      const float step = weights[lane] - before[lane];
      const float at = before[lane] + share_[lane] * step;
      const float away = share_[lane] == 0 ? std::fabs(step) : -std::fabs(step);  // from 0, or to it
      slope[lane] += at > 0 ? step : at < 0 ? -step : away;
    }
  }
}

}  // namespace labeltree
