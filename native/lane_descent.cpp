#include "lane_descent.h"

#include <algorithm>

#include "random.h"

namespace labeltree {

namespace {

// Rows between two looks at whether to stop: well under a second even for long rows.
constexpr int64_t kRowsPerCall = 8192;
// A row whose lanes did not move is passed over once, then twice, then four times, and so on up to this.
constexpr int kLongestNap = 8;

}  // namespace

void LaneDescent::run(const GroupProblem& problem, uint64_t seed, const Progress& progress) {
  const int n_columns = problem.n_columns;
  const int64_t n_rows = problem.rows.n_rows();
  lanes_ = lanes_for(n_columns);
  weights_.reset(problem.rows.n_weights() * lanes_);
  alpha_.reset(n_rows * lanes_);
  n_row_visits_ = n_passes_ = 0;
  moved_.resize(n_rows);
  nap_.assign(n_rows, 0);
  wake_.assign(n_rows, 0);

  DescentPass pass;
  pass.rows = problem.rows.rows();
  pass.squared_norm = problem.squared_norm;
  pass.single_norm = problem.single_norm;
  pass.cost = problem.cost;
  pass.lane_cost = problem.lane_cost;
  pass.positive = problem.positive.data();
  pass.weights = weights_.data();
  pass.alpha = alpha_.data();
  pass.moved = moved_.data();
  pass.used = running_ = n_columns == 32 ? ~0u : (1u << n_columns) - 1;
  pass.tolerance = tol_ / 2;

  Random random(seed);
  while (n_passes_ < max_iter_ && running_ != 0) {
    order_.clear();
    for (int64_t i = 0; i < n_rows; ++i) {
      if (wake_[i] <= n_passes_) order_.push_back(static_cast<uint32_t>(i));
    }
    random.shuffle(order_.data(), static_cast<uint32_t>(order_.size()));
    pass.moved_lanes = 0;
    for (size_t begin = 0; begin < order_.size(); begin += kRowsPerCall) {
      progress.check();
      pass.order = order_.data() + begin;
      pass.n_order = std::min<int64_t>(kRowsPerCall, static_cast<int64_t>(order_.size() - begin));
      if (problem.joint) {
        lane_kernels().joint_pass(lanes_, pass);
      } else {
        lane_kernels().descent_pass(loss_, lanes_, pass);
      }
    }
    n_row_visits_ += static_cast<int64_t>(order_.size());
    ++n_passes_;
    if (pass.moved_lanes != 0) {
      for (const uint32_t row : order_) {
        nap_[row] = moved_[row] ? 0 : std::clamp(2 * nap_[row], 1, kLongestNap);
        wake_[row] = static_cast<int32_t>(n_passes_ + nap_[row]);
      }
    }
    const bool all_asked = static_cast<int64_t>(order_.size()) == n_rows;
    // A lane has converged when no row moved it since all rows were asked.
    running_ = all_asked ? pass.moved_lanes : running_ | pass.moved_lanes;
    if (pass.moved_lanes == 0 && !all_asked) {
      std::fill(wake_.begin(), wake_.end(), 0);  // nothing moved, but not everybody was asked
    }
  }
}

}  // namespace labeltree
