#include "training/sparse_hinge.h"

#include <algorithm>
#include <cmath>

#include "training/shrunk_weights.h"

namespace labeltree {

namespace {

// Rows that are scored at a time.
constexpr int64_t kHingeRowsPerCall = 1024;
// The maximum number of rows that a search makes active, or as many as are active already; and the number of
// rows that are drawn at first.
constexpr size_t kFewest = 64;
// How often the active rows step between two searches, unless none moves by more than a share of the
// tolerance.
constexpr int kRounds = 10;
constexpr float kShareOfTolerance = 0.1f;
// Rows that step between two looks at whether to stop.
constexpr size_t kHingeRowsPerCheck = 1024;

// The larger violation, or of equal ones that of the first row.
bool comes_first(const std::pair<float, int32_t>& a, const std::pair<float, int32_t>& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

uint32_t mask_of(int n) { return n == 32 ? ~0u : (1u << n) - 1; }

// Calls visit(lane) for each bit, the lowest first.
template <class Visit>
void visit_lanes(uint32_t mask, const Visit& visit) {
  for (; mask != 0; mask &= mask - 1) visit(__builtin_ctz(mask));
}

}  // namespace

void SparseHinge::run(const GroupProblem& problem, uint64_t seed, const Progress& progress) {
  problem_ = &problem;
  prepare(problem, seed, progress);
  Random random(seed);
  while (n_passes_ < max_iter_ && running_ != 0) {
    visit_lanes(running_, [&](int lane) {
      if (correct(lane, random, progress) || n_passes_ == 0) return;
      running_ &= ~(1u << lane);
      stuck_ |= 1u << lane;
    });
    if (running_ == 0) break;
    search(progress);
    ++n_passes_;
    visit_lanes(running_, [&](int lane) {
      if (duality_gap(lane) <= columns_[lane].bound) {
        running_ &= ~(1u << lane);
      } else {
        activate_violations(lane);
      }
    });
  }
  weights_.reset(n_features_ * lanes_);  // lanes without a problem are 0
  write_weights(mask_of(problem.n_columns), lanes_);
  problem_ = nullptr;
}

// The rows of a problem's own are active at first, and as many others: they show where most scores should be.
void SparseHinge::prepare(const GroupProblem& problem, uint64_t seed, const Progress& progress) {
  const int64_t n_rows = problem.rows.n_rows();
  lanes_ = lanes_for(problem.n_columns);
  n_features_ = problem.rows.n_features();  // dense ones are entries like the others: see takes_singles()
  running_ = mask_of(problem.n_columns);
  stuck_ = 0;
  n_passes_ = n_searched_ = n_stepped_ = 0;
  sums_.reset(n_features_ * lanes_);
  weights_.reset(n_features_ * lanes_);
  scores_.reset(kHingeRowsPerCall * lanes_);
  is_active_.assign(n_rows, 0);
  columns_.assign(problem.n_columns, Column());
  for (int lane = 0; lane < problem.n_columns; ++lane) {
    progress.check();
    double total[2] = {0, 0};
    for (int64_t i = 0; i < n_rows; ++i) {
      total[is_positive(lane, i)] += cost(lane, i);
      if (is_positive(lane, i)) activate(lane, static_cast<int32_t>(i));
    }
    // As of one row at least: a class whose rows weigh next to nothing would have no end.
    const double of_a_row = (total[0] + total[1]) / static_cast<double>(n_rows);
    columns_[lane].bound = tol_ * std::max(std::min(total[0], total[1]), of_a_row);
    Random random(mix_seed(seed, lane));
    for (size_t n = std::max(columns_[lane].active.size(), kFewest); n > 0; --n) {
      const auto row = static_cast<int32_t>(random.below(static_cast<uint32_t>(n_rows)));
      if (!(is_active_[row] >> lane & 1)) activate(lane, row);
    }
  }
}

void SparseHinge::activate(int lane, int32_t row) {
  // A row without features has its loss, whatever the weights are.
  if (!(problem_->squared_norm[row] > 0)) return;
  is_active_[row] |= 1u << lane;
  columns_[lane].active.push_back({row, 0.0f});
}

size_t SparseHinge::most_violations(int lane) const {
  return std::max(columns_[lane].active.size(), kFewest);
}

// The largest ones only: few of the others are violations still when these have stepped.
void SparseHinge::drop_small_violations(int lane) {
  auto& found = columns_[lane].violations;
  const size_t n = most_violations(lane);
  if (found.size() <= n) return;
  std::nth_element(found.begin(), found.begin() + static_cast<int64_t>(n), found.end(), comes_first);
  found.resize(n);
}

void SparseHinge::activate_violations(int lane) {
  drop_small_violations(lane);
  auto& found = columns_[lane].violations;
  std::sort(found.begin(), found.end(), comes_first);
  for (const auto& [violation, row] : found) activate(lane, row);
}

// Returns whether any row moved: if not, none ever will.
bool SparseHinge::correct(int lane, Random& random, const Progress& progress) {
  std::vector<ActiveRow>& active = columns_[lane].active;
  bool has_moved = false;
  for (int round = 0; round < kRounds; ++round) {
    random.shuffle(active.data(), static_cast<uint32_t>(active.size()));
    float largest = 0;
    for (size_t i = 0; i < active.size(); ++i) {
      if (i % kHingeRowsPerCheck == 0) progress.check();
      largest = std::max(largest, step(lane, active[i]));
    }
    has_moved |= largest > 0;
    n_stepped_ += static_cast<int64_t>(active.size());
    if (largest <= kShareOfTolerance * tol_) break;
  }
  std::erase_if(active, [&](const ActiveRow& row) {
    if (row.alpha > 0) return false;
    is_active_[row.row] &= ~(1u << lane);
    return true;
  });
  return has_moved;
}

// To the best place of one dual variable, as if no threshold held weights back: that is a bound, so the step
// never makes the dual objective worse. Returns how far the row was from its margin, if it moved.
float SparseHinge::step(int lane, ActiveRow& active) {
  const LocalBlock& rows = problem_->rows;
  const int64_t begin = rows.row_begin[active.row], end = rows.row_begin[active.row + 1];
  float* sum = sums(lane);
  float score = 0;
  for (int64_t k = begin; k < end; ++k) score += shrunk(sum[rows.index[k]], l1_) * rows.value[k];
  const float sign = is_positive(lane, active.row) ? 1.0f : -1.0f;
  const float slope = sign * score - 1;
  const float alpha =
      std::clamp(active.alpha - slope / problem_->squared_norm[active.row], 0.0f, cost(lane, active.row));
  if (alpha == active.alpha) return 0;
  const float step = sign * (alpha - active.alpha);
  for (int64_t k = begin; k < end; ++k) sum[rows.index[k]] += step * rows.value[k];
  active.alpha = alpha;
  return std::fabs(slope);
}

// Of some problems, one next to the other.
void SparseHinge::write_weights(uint32_t mask, int width) {
  const float* sum[kMaxLanes];
  int n = 0;
  visit_lanes(mask, [&](int lane) { sum[n++] = sums(lane); });
  for (int64_t f = 0; f < n_features_; ++f) {
    for (int j = 0; j < n; ++j) weights_.data()[f * width + j] = shrunk(sum[j][f], l1_);
  }
}

// For the problems that have not converged.
void SparseHinge::search(const Progress& progress) {
  const int width = lanes_for(__builtin_popcount(running_));
  write_weights(running_, width);
  const int64_t n_rows = problem_->rows.n_rows();
  for (Column& column : columns_) {
    column.loss = 0;
    column.violations.clear();
  }
  for (int64_t begin = 0; begin < n_rows; begin += kHingeRowsPerCall) {
    progress.check();
    const int64_t end = std::min(n_rows, begin + kHingeRowsPerCall);
    LocalRows rows = problem_->rows.rows();
    rows.row_begin += begin;
    lane_kernels().multiply(rows, 0, end - begin, weights_.data(), width, scores_.data());
    for (int64_t i = begin; i < end; ++i) {
      if (!(problem_->squared_norm[i] > 0)) continue;
      const float* score = scores_.data() + (i - begin) * width;
      visit_lanes(running_, [&](int lane) {
        const float margin = is_positive(lane, i) ? *score : -*score;
        ++score;
        const float violation = 1 - margin;
        if (!(violation > 0)) return;
        columns_[lane].loss += static_cast<double>(cost(lane, i)) * violation;
        if (is_active_[i] >> lane & 1) return;
        columns_[lane].violations.emplace_back(violation, static_cast<int32_t>(i));
        if (columns_[lane].violations.size() >= 4 * most_violations(lane)) drop_small_violations(lane);
      });
    }
  }
  n_searched_ += n_rows;
}

// At the weights of the last search.
double SparseHinge::duality_gap(int lane) const {
  double gap = columns_[lane].loss;
  for (const ActiveRow& row : columns_[lane].active) gap -= row.alpha;
  const float* sum = sums(lane);
  for (int64_t f = 0; f < n_features_; ++f) {
    const double weight = shrunk(sum[f], l1_);
    gap += weight * weight + l1_ * std::fabs(weight);
  }
  return gap;
}

}  // namespace labeltree
