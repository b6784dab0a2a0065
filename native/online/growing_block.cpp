#include "online/growing_block.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/random.h"

namespace labeltree {

namespace {

// Slots of a map to ask memory for ahead of their use.
constexpr int64_t kSlotsAhead = 8;

int width_for(int n_lanes) { return n_lanes <= 2 ? n_lanes : (n_lanes + 3) / 4 * 4; }

float negated(float w) { return 0.0f - w; }  // never -0

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
void GrowingBlock::widen(const WeightSpace& space, int n_lanes, const Copy& copy) {
  const int width = width_for(n_lanes);
  if (space.kind != WeightKind::shared) {
    const int64_t n_parts = n_rows_ * space.floats_per_weight();
    GrowingFloats data;
    data.resize(n_parts * width);
    for (int64_t part = 0; part < n_parts; ++part) {
      copy(data_.data() + part * width_, data.data() + part * width);
    }
    data_ = std::move(data);
  }
  width_ = width;
}

template <class Copy>
void GrowingBlock::narrow(const WeightSpace& space, int n_lanes, const Copy& copy) noexcept {
  const int width = width_for(n_lanes);
  if (space.kind != WeightKind::shared) {
    const int64_t n_parts = n_rows_ * space.floats_per_weight();
    for (int64_t part = 0; part < n_parts; ++part) {
      float* to = data_.data() + part * width;
      copy(data_.data() + part * width_, to);
      std::fill(to + n_lanes, to + width, 0.0f);
    }
    data_.resize(n_parts * width);
    data_.shrink();
  }
  width_ = width;
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
    widen(space, n_needed, [&](const float* from, float* to) { std::copy_n(from, n_lanes(), to); });
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
  widen(space, n_lanes() + 1, [&](const float* from, float* to) {
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

void GrowingBlock::keep_children(const WeightSpace& space, const std::vector<uint8_t>& kept,
                                 bool start_auxiliary) noexcept {
  const int n_kept = static_cast<int>(std::count_if(kept.begin(), kept.end(), [](bool k) { return k; }));
  const bool starts = start_auxiliary && !has_auxiliary_ && space.kind != WeightKind::shared;
  narrow(space, n_kept + (has_auxiliary_ || starts ? 1 : 0), [&](const float* from, float* to) {
    for (int lane = 0; lane < n_children_; ++lane) {
      if (kept[lane]) *to++ = from[lane];
    }
    if (has_auxiliary_ || starts) *to = starts ? 0.0f : from[n_children_];
  });
  n_children_ = n_kept;
  has_auxiliary_ = has_auxiliary_ || starts;
}

void GrowingBlock::drop_auxiliary(const WeightSpace& space) noexcept {
  if (!has_auxiliary_) return;
  has_auxiliary_ = false;
  narrow(space, n_children_, [&](const float* from, float* to) { std::copy_n(from, n_children_, to); });
}

// -- features
// ------------------------------------------------------------------------------------------------

uint32_t GrowingBlock::shared_row(const WeightSpace& space, uint32_t feature) const {
  const uint64_t hash = mix_seed(static_cast<uint64_t>(number_), feature);
  const uint64_t n_places = static_cast<uint64_t>((space.length - space.most_lanes) / kSharedUnit);
  return static_cast<uint32_t>(((hash >> 32) * n_places) >> 32);
}

void GrowingBlock::find(const WeightSpace& space, const Example& x, uint32_t* rows) const {
  const int64_t n = x.size();
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

GrowingRows GrowingBlock::rows(const WeightSpace& space, const Example& x, const uint32_t* rows) const {
  const bool shared = space.kind == WeightKind::shared;
  GrowingRows view;
  view.n = x.size();
  view.row = rows;
  view.value = x.value.data();
  view.weights = const_cast<float*>(shared ? space.table.data() : data_.data());
  view.unit = unit(space);
  view.squares = !space.has_squares() ? 0 : shared ? space.length : width_;
  view.initial_accumulator = space.initial_accumulator;
  view.shrunk = space.solver == Solver::fobos ? const_cast<double*>(shrunk_.data()) : nullptr;
  view.penalty = penalty_;
  return view;
}

// -- learning
// ------------------------------------------------------------------------------------------------

void GrowingBlock::score(const WeightSpace& space, const Example& x, std::vector<uint32_t>& rows,
                         float* scores) const {
  rows.resize(x.size());
  find(space, x, rows.data());
  lane_kernels().score_growing(this->rows(space, x, rows.data()), width_, scores);
  if (space.solver == Solver::sgd) {
    for (int lane = 0; lane < width_; ++lane) scores[lane] *= static_cast<float>(penalty_);
  }
}

void GrowingBlock::fold_scale(const WeightSpace& space) {
  const float scale = static_cast<float>(penalty_);
  change_rows(space, [&](float* w, float*) {
    for (int lane = 0; lane < width_; ++lane) w[lane] = w[lane] * scale + 0.0f;  // never -0
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
  // A leaf of a fixed tree has no lanes, but as many hashed features as other nodes.
  const int64_t n_empty = space.kind == WeightKind::hashed ? space.length + 1 : 0;
  const int64_t n_stored = n == 0 ? n_empty : static_cast<int64_t>(state.weights.size()) / n;
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
