#include "training/incremental_solver.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "training/block_rows.h"

namespace labeltree {

namespace {

// Rows between two looks at whether to stop: well under a second even for long rows.
constexpr int64_t kScheduledRowsPerCall = 8192;
// SGD keeps weights divided by what the penalty has left of them. Below this, they are multiplied out.
constexpr double kSmallestScale = 1e-9;

}  // namespace

void check_incremental(Solver solver, Loss loss, float initial_accumulator) {
  if (solver == Solver::adagrad && !(initial_accumulator > 0)) {
    throw std::invalid_argument("initial_accumulator must be above 0: AdaGrad divides by its root");
  }
  switch (solver) {
    case Solver::adagrad:
      return check_loss(loss, LossUse::incremental, "the solver adagrad");
    case Solver::sgd:
      return check_loss(loss, LossUse::incremental, "the solver sgd");
    case Solver::fobos:
      return check_loss(loss, LossUse::incremental, "the solver fobos");
    default:
      throw std::invalid_argument("expected an incremental solver: adagrad, sgd or fobos");
  }
}

void IncrementalSolver::run(const GroupProblem& problem, uint64_t, const Progress& progress) {
  const int64_t n_rows = problem.rows.n_rows(), n_features = problem.rows.n_features();
  const int64_t total = n_rows * options_.epochs;
  lanes_ = lanes_for(problem.n_columns);
  weights_.reset(n_features * lanes_);
  if (options_.solver == Solver::adagrad) squares_.reset(n_features * lanes_);
  shrunk_.assign(options_.solver == Solver::fobos ? n_features : 0, 0.0);
  penalty_.assign(1, options_.solver == Solver::sgd ? 1.0 : 0.0);

  IncrementalPass pass;
  pass.rows = problem.rows.rows();
  // Nothing is divided by a weight here: that of 0 is 0 again, and the row makes no step.
  example_weight_.assign(problem.cost, problem.cost + n_rows);
  for (float& weight : example_weight_) weight = weight > kSmallestCost ? weight : 0.0f;
  pass.example_weight = example_weight_.data();
  pass.lane_weight = problem.lane_cost;
  pass.positive = problem.positive.data();
  pass.weights = weights_.data();
  pass.squares = squares_.data();
  pass.initial_accumulator = options_.initial_accumulator;
  pass.shrunk = shrunk_.data();
  pass.used = problem.n_columns == 32 ? ~0u : (1u << problem.n_columns) - 1;

  n_row_visits_ = 0;
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    const uint32_t* order = order_.shuffle(options_.seed, epoch, problem.row_number, n_rows);
    for (int64_t begin = 0; begin < n_rows; begin += pass.n_order) {
      progress.check();
      pass.n_order = schedule(n_row_visits_, total, std::min(kScheduledRowsPerCall, n_rows - begin));
      pass.order = order + begin;
      pass.rate = rate_.data();
      pass.penalty = penalty_.data();
      lane_kernels().incremental_pass(options_.solver, options_.loss, lanes_, pass);
      n_row_visits_ += pass.n_order;
      penalty_.front() = penalty_.back();
      if (options_.solver == Solver::sgd && penalty_.front() < kSmallestScale) fold_penalty(n_features);
    }
  }
  fold_penalty(n_features);
  const float* w = weights_.data();
  if (!std::all_of(w, w + n_features * lanes_, [](float weight) { return std::isfinite(weight); })) {
    throw std::invalid_argument(
        "the weights of a node grew beyond all bounds: use a smaller learning_rate (or smaller sample "
        "weights, "
        "or normalize=True)");
  }
}

// Fills rate_ and penalty_ for the next rows, at most n_rows; returns for how many.
int64_t IncrementalSolver::schedule(int64_t done, int64_t total, int64_t n_rows) {
  rate_.clear();
  penalty_.resize(1);
  while (static_cast<int64_t>(rate_.size()) < n_rows) {
    const double left = static_cast<double>(total - done++) / static_cast<double>(total);
    const float rate = static_cast<float>(options_.learning_rate * (options_.falling_rate ? left : 1));
    rate_.push_back(rate);
    const double penalty = static_cast<double>(rate) * options_.regularization;
    const double before = penalty_.back();
    penalty_.push_back(options_.solver == Solver::sgd ? before * (1 - penalty) : before + penalty);
    if (options_.solver == Solver::sgd && penalty_.back() < kSmallestScale) break;
  }
  return static_cast<int64_t>(rate_.size());
}

// Makes weights_ the weights themselves.
void IncrementalSolver::fold_penalty(int64_t n_features) {
  float* w = weights_.data();
  if (options_.solver == Solver::sgd) {
    const float scale = static_cast<float>(penalty_.front());
    for (int64_t i = 0; i < n_features * lanes_; ++i) w[i] *= scale;
    penalty_.front() = 1;
  } else if (options_.solver == Solver::fobos) {
    for (int64_t f = 0; f < n_features; ++f) {
      const float missed = static_cast<float>(penalty_.front() - shrunk_[f]);
      for (int j = 0; j < lanes_; ++j, ++w) *w = std::max(*w - missed, 0.0f) + std::min(*w + missed, 0.0f);
    }
  }
}

}  // namespace labeltree
