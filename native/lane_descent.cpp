#include "lane_descent.h"

#include <algorithm>
#include <limits>

#include "random.h"

namespace labeltree {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Rows between two looks at whether to stop: well under a second even for long rows.
constexpr int64_t kRowsPerCall = 8192;

int lanes_for(int columns) { return columns <= 4 ? 4 : columns <= 8 ? 8 : columns <= 16 ? 16 : 32; }

}  // namespace

void LaneDescent::run(const DescentProblem& problem, const std::vector<uint32_t>& positive, int n_columns,
                      uint64_t seed, const Progress& progress) {
  const int64_t n_rows = problem.rows.n_rows();
  lanes_ = lanes_for(n_columns);
  weights_.reset(static_cast<int64_t>(problem.rows.n_features()) * lanes_);
  alpha_.reset(n_rows * lanes_);
  running_ = complete_ = n_columns == 32 ? ~0u : (1u << n_columns) - 1;
  active_.assign(n_rows, running_);
  n_row_visits_ = n_passes_ = 0;

  DescentPass pass;
  pass.rows = problem.rows.rows();
  pass.squared_norm = problem.squared_norm;
  pass.cost = problem.cost;
  pass.positive = positive.data();
  pass.active = active_.data();
  pass.weights = weights_.data();
  pass.alpha = alpha_.data();
  std::fill(pass.shrink_above, pass.shrink_above + kMaxLanes, kInfinity);

  Random random(seed);
  for (int iteration = 0; iteration < problem.max_iter && running_ != 0; ++iteration) {
    collect_active_rows();
    random.shuffle(order_.data(), static_cast<uint32_t>(order_.size()));
    std::fill(pass.largest, pass.largest + kMaxLanes, 0.0f);
    std::fill(pass.smallest, pass.smallest + kMaxLanes, 0.0f);
    pass.running = running_;
    pass.shrunk = 0;
    for (size_t begin = 0; begin < order_.size(); begin += kRowsPerCall) {
      progress.check();
      pass.order = order_.data() + begin;
      pass.n_order = std::min<int64_t>(kRowsPerCall, static_cast<int64_t>(order_.size() - begin));
      lane_kernels().descent_pass(problem.loss, lanes_, pass);
    }
    n_row_visits_ += static_cast<int64_t>(order_.size());
    ++n_passes_;
    settle(pass, problem.tol);
  }
}

void LaneDescent::collect_active_rows() {
  order_.clear();
  for (size_t i = 0; i < active_.size(); ++i) {
    if (active_[i] & running_) order_.push_back(static_cast<uint32_t>(i));
  }
}

// After a pass: a lane within the tolerance is finished if the pass saw all its rows; if some were shrunk,
// they come back and the lane goes on.
void LaneDescent::settle(DescentPass& pass, float tol) {
  complete_ &= ~pass.shrunk;
  uint32_t reopened = 0;
  for (uint32_t left = running_; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint32_t bit = 1u << lane;
    if (pass.largest[lane] - pass.smallest[lane] <= tol) {
      (complete_ & bit ? running_ : reopened) ^= bit;
      pass.shrink_above[lane] = kInfinity;
    } else {
      pass.shrink_above[lane] = pass.largest[lane] > 0 ? pass.largest[lane] : kInfinity;
    }
  }
  if (reopened == 0) return;
  complete_ |= reopened;
  for (uint32_t& lanes : active_) lanes |= reopened;
}

}  // namespace labeltree
