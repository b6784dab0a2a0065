// Up to 32 binary problems over the same examples with few weights each, learned from the few examples that
// their margins depend on.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/aligned_floats.h"
#include "core/progress.h"
#include "core/random.h"
#include "lanes/kernels.h"
#include "training/group_solver.h"

namespace labeltree {

// Each problem minimises
//   l1 * |w|_1 + |w|^2 / 2 + sum_i cost_i * (1 - y_i * w.x_i)_+
// A search scores all rows for all problems at once. The rows that violate the margin of a problem most are
// its active ones from then on, and it steps along their dual variables, until its next search. A row whose
// dual variable is 0 again is not active any more.
class SparseHinge final : public GroupSolver {
 public:
  // A problem has converged when its duality gap is at most `tol` for each unit of cost of its rarer class,
  // or for that of one row if this is more; max_iter bounds the searches.
  SparseHinge(float l1, float tol, int max_iter) : l1_(l1), tol_(tol), max_iter_(max_iter) {}

  void run(const GroupProblem& problem, uint64_t seed, const Progress& progress) override;

  LaneWeights learned() const override { return {weights_.data(), nullptr, lanes_}; }
  int n_unconverged() const override { return __builtin_popcount(running_ | stuck_); }
  int64_t n_row_visits() const override { return n_searched_ + n_stepped_ / lanes_; }
  int64_t n_passes() const override { return n_passes_; }

 private:
  struct ActiveRow {
    int32_t row;
    float alpha;
  };
  // One problem.
  struct Column {
    std::vector<ActiveRow> active;
    std::vector<std::pair<float, int32_t>> violations;  // the largest, of rows that are not active
    double loss = 0;                                    // of all rows, at the last search
    double bound = 0;                                   // of the duality gap, to have converged
  };

  void prepare(const GroupProblem& problem, uint64_t seed, const Progress& progress);
  void activate(int lane, int32_t row);
  size_t most_violations(int lane) const;
  void drop_small_violations(int lane);
  void activate_violations(int lane);
  bool correct(int lane, Random& random, const Progress& progress);
  float step(int lane, ActiveRow& active);
  void write_weights(uint32_t mask, int width);
  void search(const Progress& progress);
  double duality_gap(int lane) const;

  bool is_positive(int lane, int64_t row) const { return problem_->positive[row] >> lane & 1; }
  float cost(int lane, int64_t row) const {
    return problem_->lane_cost ? problem_->lane_cost[row * lanes_ + lane] : problem_->cost[row];
  }
  float* sums(int lane) { return sums_.data() + lane * n_features_; }
  const float* sums(int lane) const { return sums_.data() + lane * n_features_; }

  float l1_;
  float tol_;
  int max_iter_;
  const GroupProblem* problem_ = nullptr;  // during run()
  int lanes_ = 4;
  int64_t n_features_ = 0;
  std::vector<Column> columns_;
  AlignedFloats sums_;  // [lane][feature]: of dual variables times values
  // [feature][lane]: the sums, moved towards 0 by l1; of the lanes that are searched for, and of all at last.
  AlignedFloats weights_;
  AlignedFloats scores_;             // [row][lane], of some rows
  std::vector<uint32_t> is_active_;  // per row, a bit per lane
  uint32_t running_ = 0;             // lanes that have not converged
  uint32_t stuck_ = 0;               // lanes that cannot
  int64_t n_passes_ = 0, n_searched_ = 0, n_stepped_ = 0;
};

}  // namespace labeltree
