// The loops of primal coordinate descent. Included only by lanes/kernels.cpp, like lanes/simd.h.
#pragma once

#include "lanes/kernels.h"
#include "lanes/loss_dispatch.h"
#include "lanes/row_products.h"
#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

template <class V>
inline typename V::Floats class_sign(uint32_t positive, int first) {
  using Floats = typename V::Floats;
  return lane_mask<typename V::Ints>(positive, first) ? Floats{} + 1.0f : Floats{} - 1.0f;
}

template <int Lanes>
inline typename LaneVector<Lanes>::Floats lane_costs(const LossParabolas& losses, int64_t row, int first) {
  using Floats = typename LaneVector<Lanes>::Floats;
  return losses.lane_cost != nullptr ? load<Floats>(losses.lane_cost + row * Lanes + first)
                                     : Floats{} + losses.cost[row];
}

// Adds `share` (per lane) of the last round's step to the scores and starts the next round there.
template <int Lanes, class Type>
void start_round(const LossParabolas& losses, int64_t begin, int64_t end, const float* share) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using LossOf = typename Type::template Of<V>;
  for (int64_t row = begin; row < end; ++row) {
    for (int j = 0; j < Lanes; j += V::kWidth) {
      const int64_t at = row * Lanes + j;
      const Floats sign = class_sign<V>(losses.positive[row], j);
      const Floats score =
          load<Floats>(losses.score + at) + load<Floats>(share + j) * load<Floats>(losses.step + at);
      store(losses.score + at, score);
      store(losses.step + at, Floats{});
      const Floats cost = lane_costs<Lanes>(losses, row, j);
      store(losses.gradient + at, cost * sign * LossOf::slope(sign * score));
      store(losses.curvature + at, LossOf::curvature(sign * score, cost));
    }
  }
}

// The slope of the true losses along the round's step, at `share` of it; added to `slope`.
template <int Lanes, class Type>
void slope_along_step(const LossParabolas& losses, int64_t begin, int64_t end, const float* share,
                      float* slope) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using LossOf = typename Type::template Of<V>;
  for (int64_t row = begin; row < end; ++row) {
    for (int j = 0; j < Lanes; j += V::kWidth) {
      const int64_t at = row * Lanes + j;
      const Floats step = load<Floats>(losses.step + at);
      const Floats score = load<Floats>(losses.score + at) + load<Floats>(share + j) * step;
      const Floats sign = class_sign<V>(losses.positive[row], j);
      const Floats gradient = lane_costs<Lanes>(losses, row, j) * sign * LossOf::slope(sign * score);
      store(slope + j, load<Floats>(slope + j) + step * gradient);
    }
  }
}

// A score is not moved further than this by one step of one feature: beyond, no parabola resembles a loss.
constexpr float kLongestStep = 4.0f;
// The curvature of a feature whose rows are all far from the boundary.
constexpr float kLeastCurvature = 1e-10f;

template <int Lanes>
void feature_pass(FeaturePass& pass) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  const LocalRows& features = pass.features;
  for (int64_t at = 0; at < pass.n_order; ++at) {
    const uint32_t feature = pass.order[at];
    float* weights = pass.weights + static_cast<int64_t>(feature) * Lanes;
    Floats step[V::kCount];  // the gradient, at first
    multiply_row<Lanes>(features, feature, pass.losses.gradient, Lanes, step);
    uint32_t candidates = 0;
    for (int j = 0; j < V::kCount; ++j) {
      const Floats w = load<Floats>(weights + j * V::kWidth);
      candidates |= lane_bits((w != 0.0f) | (step[j] > 1.0f) | (step[j] < -1.0f), j * V::kWidth);
    }
    // Nearly all weights are 0 and stay so.
    if ((candidates & pass.used) == 0) continue;

    Floats curvature[V::kCount] = {};
    for (int64_t k = features.row_begin[feature]; k < features.row_begin[feature + 1]; ++k) {
      const float* row = pass.losses.curvature + static_cast<int64_t>(features.index[k]) * Lanes;
      const float square = features.value[k] * features.value[k];
      for (int j = 0; j < V::kCount; ++j) curvature[j] += square * load<Floats>(row + j * V::kWidth);
    }
    const float largest = pass.largest[feature];
    const Floats longest = Floats{} + kLongestStep / largest;
    uint32_t moved = 0;
    for (int j = 0; j < V::kCount; ++j) {
      const Floats w = load<Floats>(weights + j * V::kWidth);
      const Floats h = maximum(curvature[j], Floats{} + kLeastCurvature);
      const Floats target = h * w - step[j];
      const Floats next = (target - minimum(maximum(target, Floats{} - 1.0f), Floats{} + 1.0f)) / h;
      const Floats wanted = next - w;
      const Ints moving = lane_mask<Ints>(pass.used, j * V::kWidth) &
                          ((wanted * largest > pass.tolerance) | (wanted * largest < -pass.tolerance) |
                           ((next == 0.0f) & (w != 0.0f)));
      step[j] = moving ? minimum(maximum(wanted, -longest), longest) : Floats{};
      moved |= lane_bits(moving, j * V::kWidth);
    }
    if (moved == 0) continue;
    pass.moved_lanes |= moved;
    float* before = pass.before + static_cast<int64_t>(feature) * Lanes;
    for (int j = 0; j < V::kCount; ++j) {
      const Floats w = load<Floats>(weights + j * V::kWidth);
      if (!pass.moved[feature]) store(before + j * V::kWidth, w);
      store(weights + j * V::kWidth, w + step[j]);
    }
    pass.moved[feature] = 1;
    for (int64_t k = features.row_begin[feature]; k < features.row_begin[feature + 1]; ++k) {
      const int64_t row = static_cast<int64_t>(features.index[k]) * Lanes;
      for (int j = 0; j < V::kCount; ++j) {
        const int64_t to = row + j * V::kWidth;
        const Floats change = features.value[k] * step[j];
        store(pass.losses.step + to, load<Floats>(pass.losses.step + to) + change);
        store(pass.losses.gradient + to,
              load<Floats>(pass.losses.gradient + to) + load<Floats>(pass.losses.curvature + to) * change);
      }
    }
  }
}

// Calls body with the number of lanes as a constant and the type of the loss.
template <class Body>
void with_primal_loss(Loss loss, int lanes, const Body& body) {
  with_loss(loss, [&](auto type) {
    if constexpr (decltype(type)::kPrimal) {
      with_lanes(lanes, [&](auto n) { body(n, type); });
    }
  });
}

void start_round(Loss loss, int lanes, const LossParabolas& losses, int64_t begin, int64_t end,
                 const float* share) {
  with_primal_loss(loss, lanes,
                   [&](auto n, auto type) { start_round<n(), decltype(type)>(losses, begin, end, share); });
}

void slope_along_step(Loss loss, int lanes, const LossParabolas& losses, int64_t begin, int64_t end,
                      const float* share, float* slope) {
  with_primal_loss(loss, lanes, [&](auto n, auto type) {
    slope_along_step<n(), decltype(type)>(losses, begin, end, share, slope);
  });
}

void feature_pass(int lanes, FeaturePass& pass) {
  with_lanes(lanes, [&](auto n) { feature_pass<n()>(pass); });
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
