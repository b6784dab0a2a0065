#include "online/growing_block.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/random.h"

namespace labeltree {

namespace {

// SGD keeps weights divided by what the penalty has left of them. Below this, they are multiplied out.
constexpr double kSmallestScale = 1e-9;
// Slots of a map to ask memory for ahead of their use.
constexpr int64_t kSlotsAhead = 8;

int width_for(int n_lanes) { return n_lanes <= 2 ? n_lanes : (n_lanes + 3) / 4 * 4; }

float negated(float w) { return 0.0f - w; }  // never -0

void set_bits(int n, std::vector<uint32_t>& bits) {
  bits.assign((n + 31) / 32, ~0u);
  if (n % 32 != 0) bits.back() = (1u << (n % 32)) - 1;
}

}  // namespace

GrowingBlock::GrowingBlock(const WeightSpace& space, int32_t number, bool has_auxiliary)
    : number_(number),
      has_auxiliary_(has_auxiliary && space.kind != WeightKind::shared),
      penalty_(space.solver == Solver::sgd ? 1 : 0) {
  width_ = width_for(n_lanes());
  if (space.kind != WeightKind::shared) {
    set_n_rows(space, space.kind == WeightKind::hashed ? space.length + 2 : 1);
  }
}

// -- lanes
// ---------------------------------------------------------------------------------------------------

void GrowingBlock::set_n_rows(const WeightSpace& space, int64_t n) {
  if (n > UINT32_MAX) throw std::invalid_argument("a node has more than 4,294,967,295 features");
  data_.resize(n * unit(space));
  if (space.solver == Solver::fobos) shrunk_.resize(n, penalty_);
  n_rows_ = n;
}

template <class Copy>
void GrowingBlock::repack(const WeightSpace& space, int n_lanes, const Copy& copy) {
  const int width = width_for(n_lanes), old_width = width_;
  width_ = width;
  if (space.kind == WeightKind::shared) return;
  const int64_t n_parts = n_rows_ * space.floats_per_weight();
  GrowingFloats data;
  data.resize(n_parts * width);
  for (int64_t part = 0; part < n_parts; ++part) {
    copy(data_.data() + part * old_width, data.data() + part * width);
  }
  data_ = std::move(data);
}

template <class Change>
void GrowingBlock::change_rows(const WeightSpace& space, const Change& change) {
  if (space.kind == WeightKind::shared) return;
  float* w = data_.data();
  for (int64_t row = 0; row < n_rows_; ++row, w += unit(space)) {
    change(w, space.has_squares() ? w + width_ : nullptr);
  }
}

void GrowingBlock::add_child(const WeightSpace& space, bool is_last) {
  const int lane = n_children_;
  const bool becomes_auxiliary = has_auxiliary_ && is_last;
  const int n_needed = n_lanes() + (becomes_auxiliary ? 0 : 1);
  if (n_needed > width_) {
    repack(space, n_needed, [&](const float* from, float* to) { std::copy_n(from, n_lanes(), to); });
  }
  ++n_children_;
  has_auxiliary_ = has_auxiliary_ && !is_last;
  change_rows(space, [&](float* w, float* squares) {
    if (!is_last) {
      w[lane + 1] = w[lane];
      if (squares != nullptr) squares[lane + 1] = squares[lane];
    }
    w[lane] = negated(w[lane]);
  });
}

void GrowingBlock::remove_last_child(const WeightSpace& space, bool was_last) {
  const int lane = --n_children_;
  if (space.kind == WeightKind::shared) return;
  has_auxiliary_ = true;
  change_rows(space, [&](float* w, float* squares) {
    if (was_last) {
      w[lane] = negated(w[lane]);
    } else {
      w[lane] = w[lane + 1];
      w[lane + 1] = 0;
      if (squares != nullptr) squares[lane + 1] = 0;
    }
  });
}

void GrowingBlock::add_blank_child(const WeightSpace& space) {
  repack(space, n_lanes() + 1, [&](const float* from, float* to) {
    std::copy_n(from, n_children_, to);
    if (has_auxiliary_) to[n_children_ + 1] = from[n_children_];
  });
  ++n_children_;
}

GrowingBlock GrowingBlock::over(const WeightSpace& space, int32_t number) const {
  GrowingBlock block(space, number, true);
  block.n_children_ = 1;
  block.n_seen_ = n_seen_;
  block.penalty_ = penalty_;
  if (space.kind == WeightKind::shared) {
    block.width_ = width_for(1);
    return block;
  }
  block.width_ = width_for(2);
  block.map_ = map_;
  block.shrunk_ = shrunk_;
  block.n_rows_ = n_rows_;
  const int64_t n_parts = n_rows_ * space.floats_per_weight();
  block.data_ = GrowingFloats();
  block.data_.resize(n_parts * block.width_);
  const float* from = data_.data() + n_children_;  // the auxiliary lane
  float* to = block.data_.data();
  for (int64_t part = 0; part < n_parts; ++part, from += width_, to += block.width_) to[0] = to[1] = *from;
  return block;
}

void GrowingBlock::keep_children(const WeightSpace& space, const std::vector<uint8_t>& kept) {
  std::vector<int> lanes;
  for (int lane = 0; lane < n_children_; ++lane) {
    if (kept[lane]) lanes.push_back(lane);
  }
  const int n_kept = static_cast<int>(lanes.size());
  if (n_kept == n_children_) return;
  if (has_auxiliary_) lanes.push_back(n_children_);
  repack(space, static_cast<int>(lanes.size()), [&](const float* from, float* to) {
    for (size_t i = 0; i < lanes.size(); ++i) to[i] = from[lanes[i]];
  });
  n_children_ = n_kept;
}

void GrowingBlock::drop_auxiliary(const WeightSpace& space) {
  if (!has_auxiliary_) return;
  has_auxiliary_ = false;
  repack(space, n_children_, [&](const float* from, float* to) { std::copy_n(from, n_children_, to); });
}

void GrowingBlock::start_auxiliary(const WeightSpace& space) {
  if (has_auxiliary_ || space.kind == WeightKind::shared) return;
  repack(space, n_children_ + 1, [&](const float* from, float* to) { std::copy_n(from, n_children_, to); });
  has_auxiliary_ = true;
}

// -- features
// ------------------------------------------------------------------------------------------------

uint32_t GrowingBlock::shared_row(const WeightSpace& space, uint32_t feature) const {
  const uint64_t hash = mix_seed(static_cast<uint64_t>(number_), feature);
  const uint64_t n_places = static_cast<uint64_t>((space.length - space.most_lanes) / kSharedUnit);
  return static_cast<uint32_t>(((hash >> 32) * n_places) >> 32);
}

void GrowingBlock::find(const WeightSpace& space, const Example& x, std::vector<uint32_t>& rows) const {
  const int64_t n = x.size();
  rows.resize(n);
  if (space.kind == WeightKind::map) {
    for (int64_t k = 0; k < std::min(n, kSlotsAhead); ++k) map_.prefetch(x.feature[k]);
    for (int64_t k = 0; k < n; ++k) {
      if (k + kSlotsAhead < n) map_.prefetch(x.feature[k + kSlotsAhead]);
      rows[k] = map_.find(x.feature[k]);
    }
  } else if (space.kind == WeightKind::shared) {
    for (int64_t k = 0; k < n; ++k) rows[k] = shared_row(space, x.feature[k]);
  } else {
    for (int64_t k = 0; k < n; ++k) {
      const uint32_t row = x.feature[k] + 2;  // the bias, the largest number there is, has row 1
      rows[k] = row < n_rows_ ? row : 0;
    }
  }
}

void GrowingBlock::insert_missing(const WeightSpace& space, const Example& x, std::vector<uint32_t>& rows) {
  int64_t n_rows = n_rows_;
  for (int64_t k = 0; k < x.size(); ++k) {
    if (rows[k] != 0 || space.kind == WeightKind::shared) continue;
    rows[k] = space.kind == WeightKind::map ? static_cast<uint32_t>(n_rows) : x.feature[k] + 2;
    n_rows = std::max(n_rows, static_cast<int64_t>(rows[k]) + 1);
    if (space.kind == WeightKind::map) map_.insert(x.feature[k], rows[k]);
  }
  if (n_rows > n_rows_) set_n_rows(space, n_rows);
}

GrowingRows GrowingBlock::rows(const WeightSpace& space, const Example& x,
                               const std::vector<uint32_t>& rows) const {
  const bool shared = space.kind == WeightKind::shared;
  GrowingRows view;
  view.n = x.size();
  view.row = rows.data();
  view.value = x.value.data();
  view.weights = const_cast<float*>(shared ? space.table.data() : data_.data());
  view.unit = unit(space);
  view.squares = !space.has_squares() ? 0 : shared ? space.length : width_;
  view.shrunk = space.solver == Solver::fobos ? const_cast<double*>(shrunk_.data()) : nullptr;
  view.penalty = penalty_;
  return view;
}

// -- learning
// ------------------------------------------------------------------------------------------------

void GrowingBlock::score(const WeightSpace& space, const Example& x, std::vector<uint32_t>& rows,
                         float* scores) const {
  find(space, x, rows);
  lane_kernels().score_growing(this->rows(space, x, rows), width_, scores);
  if (space.solver == Solver::sgd) {
    for (int lane = 0; lane < width_; ++lane) scores[lane] *= static_cast<float>(penalty_);
  }
}

void GrowingBlock::learn(WeightSpace& space, const Learner& learner, const Example& x, float weight,
                         Scratch& scratch) {
  const LaneKernels& kernels = lane_kernels();
  set_bits(n_lanes(), scratch.used);
  if (has_auxiliary_) scratch.positive[n_children_ / 32] |= 1u << (n_children_ % 32);
  scratch.scores.resize(width_);
  scratch.gradient.resize(width_);

  const bool decays = space.solver != Solver::adagrad;
  const double rate = learner.learning_rate / (decays ? std::sqrt(1.0 + static_cast<double>(n_seen_)) : 1);
  const double penalty = rate * learner.regularization;
  const float scale = space.solver == Solver::sgd ? static_cast<float>(penalty_) : 1.0f;
  const double scale_after = space.solver == Solver::sgd ? penalty_ * (1 - penalty) : 1;

  find(space, x, scratch.rows);
  kernels.score_growing(rows(space, x, scratch.rows), width_, scratch.scores.data());
  for (int lane = 0; lane < n_lanes(); ++lane) {
    if (!std::isfinite(scale * scratch.scores[lane])) {
      throw std::invalid_argument(
          "the weights of a node grew beyond all bounds: use a smaller learning_rate (or smaller sample "
          "weights, or normalize=True)");
    }
  }
  const bool moves =
      kernels.gradient_of_lanes(learner.loss, width_, scratch.scores.data(), scale, scratch.positive.data(),
                                scratch.used.data(), weight, scratch.gradient.data());
  // FOBOS shrinks what is there in any case, so that it is shrunk at the same steps whichever lanes there
  // are.
  if (moves || space.solver == Solver::fobos) {
    if (moves) insert_missing(space, x, scratch.rows);
    kernels.step_growing(space.solver, rows(space, x, scratch.rows), width_, scratch.gradient.data(),
                         static_cast<float>(rate / scale_after));
  }
  ++n_seen_;
  if (space.solver == Solver::sgd) {
    penalty_ = scale_after;
    if (penalty_ < kSmallestScale) fold_scale(space);
  } else if (space.solver == Solver::fobos) {
    penalty_ += penalty;
  }
}

void GrowingBlock::fold_scale(const WeightSpace& space) {
  const float scale = static_cast<float>(penalty_);
  change_rows(space, [&](float* w, float*) {
    for (int lane = 0; lane < width_; ++lane) w[lane] *= scale;
  });
  penalty_ = 1;
}

void GrowingBlock::effective_weights(const WeightSpace& space, uint32_t row, float* out) const {
  const bool shared = space.kind == WeightKind::shared;
  const float* w = (shared ? space.table.data() : data_.data()) + row * unit(space);
  std::copy_n(w, width_, out);
  if (space.solver == Solver::sgd) {
    for (int lane = 0; lane < width_; ++lane) out[lane] *= static_cast<float>(penalty_);
  } else if (space.solver == Solver::fobos) {
    const float missed = static_cast<float>(penalty_ - shrunk_[row]);
    for (int lane = 0; lane < width_; ++lane) {
      out[lane] = std::max(out[lane] - missed, 0.0f) + std::min(out[lane] + missed, 0.0f);
    }
  }
}

void GrowingBlock::weights_of(const WeightSpace& space, uint32_t feature, float* out) const {
  uint32_t row = feature + 2;
  if (space.kind == WeightKind::map) {
    row = map_.find(feature);
  } else if (space.kind == WeightKind::shared) {
    row = shared_row(space, feature);
  } else if (row >= n_rows_) {
    row = 0;
  }
  effective_weights(space, row, out);
}

// -- storage
// -------------------------------------------------------------------------------------------------

GrowingBlock::State GrowingBlock::state(const WeightSpace& space) const {
  State state;
  state.n_children = n_children_;
  state.has_auxiliary = has_auxiliary_;
  state.n_seen = n_seen_;
  state.penalty = penalty_;
  if (space.kind == WeightKind::shared) return state;
  if (space.kind == WeightKind::map) {
    state.features.resize(n_rows_ - 1);
    map_.visit([&](uint32_t feature, uint32_t row) { state.features[row - 1] = feature; });
  }
  const int n = n_lanes();
  state.weights.reserve((n_rows_ - 1) * n);
  for (int64_t row = 1; row < n_rows_; ++row) {
    const float* w = data_.data() + row * unit(space);
    state.weights.insert(state.weights.end(), w, w + n);
    if (space.has_squares()) state.squares.insert(state.squares.end(), w + width_, w + width_ + n);
  }
  if (space.solver == Solver::fobos) state.shrunk.assign(shrunk_.begin() + 1, shrunk_.end());
  return state;
}

GrowingBlock::GrowingBlock(const WeightSpace& space, int32_t number, const State& state)
    : GrowingBlock(space, number, state.has_auxiliary) {
  const auto require = [](bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
  };
  n_children_ = state.n_children;
  n_seen_ = state.n_seen;
  penalty_ = state.penalty;
  width_ = width_for(n_lanes());
  if (space.kind == WeightKind::shared) return;
  const int n = n_lanes();
  const int64_t n_stored = n == 0 ? 0 : static_cast<int64_t>(state.weights.size()) / n;
  require(n_stored * n == static_cast<int64_t>(state.weights.size()), "a block has part of a row of weights");
  require(state.squares.size() == (space.has_squares() ? state.weights.size() : 0),
          "a block has not as many sums of squares as weights");
  require(static_cast<int64_t>(state.features.size()) == (space.kind == WeightKind::map ? n_stored : 0),
          "a block has not as many features as rows");
  require(static_cast<int64_t>(state.shrunk.size()) == (space.solver == Solver::fobos ? n_stored : 0),
          "a block has not as many thresholds as rows");
  require(space.kind != WeightKind::hashed || n_stored == space.length + 1,
          "a block has not as many rows as there are hashed features");
  data_ = GrowingFloats();
  set_n_rows(space, n_stored + 1);
  for (int64_t i = 0; i < n_stored; ++i) {
    float* w = data_.data() + (i + 1) * unit(space);
    std::copy_n(state.weights.data() + i * n, n, w);
    if (space.has_squares()) std::copy_n(state.squares.data() + i * n, n, w + width_);
    if (space.kind == WeightKind::map) {
      require(map_.find(state.features[i]) == 0, "a block has a feature twice");
      map_.insert(state.features[i], static_cast<uint32_t>(i + 1));
    }
    if (space.solver == Solver::fobos) shrunk_[i + 1] = state.shrunk[i];
  }
}

}  // namespace labeltree
