#include "embedding/vector_table.h"

#include <algorithm>
#include <cmath>

namespace labeltree {

namespace {

constexpr int64_t kMultiple = 16;
// After this many steps the correction is 1 in float32, for beta2 up to 0.999.
constexpr int32_t kMostCorrected = 1 << 15;

}  // namespace

VectorTable::VectorTable(int64_t n_vectors, int64_t dimension, const VectorRule& rule)
    : n_vectors_(n_vectors),
      dimension_(dimension),
      stride_((dimension + kMultiple - 1) / kMultiple * kMultiple),
      rule_(rule) {
  const int64_t size = n_vectors * stride_;
  weights_.reset(size);
  if (rule.solver == VectorSolver::adagrad) {
    squares_.reset(size);
    std::fill_n(squares_.data(), size, rule.initial_accumulator);
  }
  if (rule.solver != VectorSolver::adam) return;
  means_.reset(size);
  squares_.reset(n_vectors);
  n_steps_.assign(n_vectors, 0);
  // Means start from 0: at first they are too small.
  correction_.resize(kMostCorrected + 1);
  for (int32_t t = 1; t <= kMostCorrected; ++t) {
    const double mean = 1 - std::pow(static_cast<double>(rule.beta1), t);
    const double square = 1 - std::pow(static_cast<double>(rule.beta2), t);
    correction_[t] = static_cast<float>(std::sqrt(square) / mean);
  }
}

void VectorTable::step(int64_t i, const float* gradient, float rate, int64_t n_examples) {
  VectorStep step;
  step.dimension = dimension_;
  step.stride = stride_;
  step.rate = rate;
  step.decay = rule_.l2 * static_cast<float>(n_examples);
  step.beta1 = rule_.beta1;
  step.beta2 = rule_.beta2;
  step.epsilon = rule_.epsilon;
  const int64_t at = i * stride_;
  if (rule_.solver == VectorSolver::adagrad) step.squares = squares_.data() + at;
  if (rule_.solver == VectorSolver::adam) {
    step.means = means_.data() + at;
    step.squares = squares_.data() + i;
    n_steps_[i] = std::min(n_steps_[i] + 1, kMostCorrected);
    step.rate *= correction_[n_steps_[i]];
  }
  vector_kernels().step(rule_.solver, step, weights_.data() + at, gradient);
}

}  // namespace labeltree
