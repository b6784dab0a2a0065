// The steps of a growing block: prepared first, which may fail, and made afterwards, which may not.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/make_room.h"
#include "online/growing_block.h"

namespace labeltree {

namespace {

// A sum of floats stops growing where the distance between floats is more than twice the step. Steps of at
// most this size never take a weight beyond kTameWeight, however many there are, and far less to infinity.
constexpr double kTameStep = 1e20;
constexpr double kTameWeight = 1e28;
// The same for gradients, whose squares AdaGrad sums up.
constexpr double kTameGradient = 1e15;

bool all_finite(const float* w, int64_t n) {
  return std::all_of(w, w + n, [](float weight) { return std::isfinite(weight); });
}

void set_bits(int n, std::vector<uint32_t>& bits) {
  bits.assign((n + 31) / 32, ~0u);
  if (n % 32 != 0) bits.back() = (1u << (n % 32)) - 1;
}

}  // namespace

void GrowingBlock::Scratch::make_room(size_t n_blocks, size_t n_features, size_t n_lanes, size_t most_lanes) {
  if (rows.size() < n_blocks * n_features) rows.resize(n_blocks * n_features);
  if (gradient.size() < n_lanes) gradient.resize(n_lanes);
  if (scores.size() < most_lanes) scores.resize(most_lanes);
  positive.reserve((most_lanes + 31) / 32);
  used.reserve((most_lanes + 31) / 32);
}

double GrowingBlock::tame_weight(const WeightSpace& space, const Learner& learner) {
  // A step of AdaGrad is at most the learning rate: the gradient is divided by at least itself.
  return space.solver == Solver::adagrad ? std::ldexp(learner.learning_rate, 26) : kTameWeight;
}

bool GrowingBlock::is_tame(const WeightSpace& space, const Learner& learner, int64_t n_features,
                           float largest_value, float weight) {
  const double score = static_cast<double>(n_features) * largest_value * tame_weight(space, learner);
  const double slope = learner.loss == Loss::logistic ? 1 : 2 * (1 + score);
  const double gradient = slope * weight * largest_value;
  const double rate = learner.learning_rate / (space.solver == Solver::sgd ? kSmallestScale / 2 : 1);
  return !space.is_wild && score < kTameWeight * 1e9 && gradient < kTameGradient &&
         rate * std::max(gradient, 1.0) < kTameStep && learner.learning_rate * learner.regularization < 0.5;
}

GrowingBlock::Step GrowingBlock::prepare(WeightSpace& space, const Learner& learner, const Example& x,
                                         float weight, bool with_auxiliary, bool careful, int64_t first_row,
                                         int64_t first_lane, Scratch& scratch) {
  const LaneKernels& kernels = lane_kernels();
  const int n_lanes = n_children_ + (has_auxiliary_ && with_auxiliary ? 1 : 0);
  set_bits(n_lanes, scratch.used);
  if (n_lanes > n_children_) scratch.positive[n_children_ / 32] |= 1u << (n_children_ % 32);
  uint32_t* rows = scratch.rows.data() + first_row;
  float* gradient = scratch.gradient.data() + first_lane;

  const bool decays = space.solver != Solver::adagrad;
  const double rate = learner.learning_rate / (decays ? std::sqrt(1.0 + static_cast<double>(n_seen_)) : 1);
  const double penalty = rate * learner.regularization;
  const float scale = space.solver == Solver::sgd ? static_cast<float>(penalty_) : 1.0f;
  const double scale_after = space.solver == Solver::sgd ? penalty_ * (1 - penalty) : 1;

  find(space, x, rows);
  kernels.score_growing(this->rows(space, x, rows), width_, scratch.scores.data());
  const auto is_finite = [&](int lane) { return std::isfinite(scale * scratch.scores[lane]); };
  for (int lane = 0; careful && lane < n_lanes; ++lane) {
    if (!is_finite(lane)) throw StepOverflow("the score of a node is not finite");
  }
  Step step{first_row, first_lane, n_rows_, false, static_cast<float>(rate / scale_after),
            penalty_,  penalty_};
  step.moves = kernels.gradient_of_lanes(learner.loss, width_, scratch.scores.data(), scale,
                                         scratch.positive.data(), scratch.used.data(), weight, gradient);
  if (space.solver == Solver::sgd) step.penalty = scale_after;
  if (space.solver == Solver::fobos) step.penalty += penalty;
  if (!step.moves) return step;
  step.n_rows = number_missing(space, x, rows);
  if (!careful || space.kind == WeightKind::shared) return step;
  double largest = 0;
  for (int lane = 0; lane < width_; ++lane) largest = std::max<double>(largest, std::abs(gradient[lane]));
  largest *= scratch.largest_value;
  if (!(largest < kTameGradient && std::abs(step.rate) * std::max(largest, 1.0) < kTameStep)) {
    rehearse(space, x, step, scratch);
    space.is_wild = true;
  }
  return step;
}

void GrowingBlock::rehearse(const WeightSpace& space, const Example& x, const Step& step,
                            Scratch& scratch) const {
  const int64_t n = x.size(), unit = this->unit(space);
  const uint32_t* rows = scratch.rows.data() + step.first_row;
  scratch.rehearsed.assign(n * unit, 0.0f);
  scratch.rehearsed_shrunk.assign(n, penalty_);
  std::vector<uint32_t> place(n);
  for (int64_t k = 0; k < n; ++k) {
    place[k] = static_cast<uint32_t>(k);
    if (rows[k] >= n_rows_) continue;
    std::copy_n(data_.data() + rows[k] * unit, unit, scratch.rehearsed.data() + k * unit);
    if (space.solver == Solver::fobos) scratch.rehearsed_shrunk[k] = shrunk_[rows[k]];
  }
  GrowingRows copies = this->rows(space, x, place.data());
  copies.weights = scratch.rehearsed.data();
  if (copies.shrunk != nullptr) copies.shrunk = scratch.rehearsed_shrunk.data();
  lane_kernels().step_growing(space.solver, copies, width_, scratch.gradient.data() + step.first_lane,
                              step.rate);
  if (!all_finite(scratch.rehearsed.data(), n * unit)) throw StepOverflow("a weight is not finite");
}

void GrowingBlock::make(WeightSpace& space, const Example& x, const Step& step,
                        const Scratch& scratch) noexcept {
  const uint32_t* rows = scratch.rows.data() + step.first_row;
  if (step.n_rows > n_rows_) {
    for (int64_t k = 0; space.kind == WeightKind::map && k < x.size(); ++k) {
      if (rows[k] >= n_rows_) map_.insert(x.feature[k], rows[k]);
    }
    set_n_rows(space, step.n_rows);
  }
  // FOBOS shrinks what is there in any case, so that it is shrunk at the same steps whichever lanes there
  // are.
  if (step.moves || space.solver == Solver::fobos) {
    lane_kernels().step_growing(space.solver, this->rows(space, x, rows), width_,
                                scratch.gradient.data() + step.first_lane, step.rate);
  }
  ++n_seen_;
  penalty_ = step.penalty;
  if (space.solver == Solver::sgd && penalty_ < kSmallestScale) fold_scale(space);
}

void GrowingBlock::keep_rows(const WeightSpace& space, const uint32_t* rows, int64_t n,
                             std::vector<float>& kept) const {
  for (int64_t k = 0; k < n; ++k) {
    const float* w = space.table.data() + rows[k] * kSharedUnit;
    kept.insert(kept.end(), w, w + width_);
    if (space.has_squares()) kept.insert(kept.end(), w + space.length, w + space.length + width_);
  }
}

double GrowingBlock::largest_weight(const WeightSpace& space, const uint32_t* rows, int64_t n) const {
  double largest = 0;
  for (int64_t k = 0; k < n; ++k) {
    const float* w = space.table.data() + rows[k] * kSharedUnit;
    if (!all_finite(w, width_) || (space.has_squares() && !all_finite(w + space.length, width_))) {
      return INFINITY;
    }
    for (int lane = 0; lane < width_; ++lane) largest = std::max<double>(largest, std::abs(w[lane]));
  }
  return largest;
}

void GrowingBlock::undo(WeightSpace& space, const Step& step, const uint32_t* rows, int64_t n,
                        const float* kept) noexcept {
  for (int64_t k = 0; k < n; ++k) {
    float* w = space.table.data() + rows[k] * kSharedUnit;
    std::copy_n(kept, width_, w);
    kept += width_;
    if (!space.has_squares()) continue;
    std::copy_n(kept, width_, w + space.length);
    kept += width_;
  }
  --n_seen_;
  penalty_ = step.penalty_before;
}

int64_t GrowingBlock::number_missing(const WeightSpace& space, const Example& x, uint32_t* rows) {
  if (space.kind == WeightKind::shared) return n_rows_;
  int64_t n_rows = n_rows_;
  for (int64_t k = 0; k < x.size(); ++k) {
    if (rows[k] != 0) continue;
    rows[k] = space.kind == WeightKind::map ? static_cast<uint32_t>(n_rows) : x.feature[k] + 2;
    n_rows = std::max(n_rows, static_cast<int64_t>(rows[k]) + 1);
  }
  if (n_rows == n_rows_) return n_rows;
  if (n_rows > UINT32_MAX) throw std::invalid_argument("a node has more than 4,294,967,295 features");
  if (space.kind == WeightKind::map) map_.reserve(n_rows - n_rows_);
  data_.reserve(n_rows * unit(space));
  if (space.solver == Solver::fobos) make_room(shrunk_, n_rows - n_rows_);
  return n_rows;
}

}  // namespace labeltree
