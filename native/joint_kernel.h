// Dual coordinate descent on one problem whose classes are the lanes. Included only by lane_kernels.cpp.
#pragma once

#include <algorithm>

#include "lane_kernels.h"
#include "row_products.h"
#include "simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// Lane by lane, as an array: horizontal sums are taken in the same order for vectors of any width.
template <int Lanes>
struct alignas(64) LaneArray {
  float lane[Lanes];

  template <class Join>
  float fold(const Join& join) const {
    LaneArray part = *this;
    for (int half = Lanes / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) part.lane[j] = join(part.lane[j], part.lane[j + half]);
    }
    return part.lane[0];
  }
  float sum() const {
    return fold([](float a, float b) { return a + b; });
  }
  float largest() const {
    return fold([](float a, float b) { return a > b ? a : b; });
  }
};

// Calls body(j, first) for every vector of lanes.
template <int Lanes, class Body>
inline void for_vectors(const Body& body) {
  using V = LaneVector<Lanes>;
  for (int j = 0; j < V::kCount; ++j) body(j, j * V::kWidth);
}

// The step of one row. Without its own part, alpha = cost * p, its scores are `base`; with it they are
// base - reach * p. The best p are those that are the softmax of that:
//   log p_j + reach * p_j = base_j - level  for all j,  sum_j p_j = 1.
// Newton's method on all u_j = log p_j and the level at once, from where the largest p is 1: there the sum is
// not too small and the u_j are not, so that it moves down towards the solution.
template <int Lanes>
void best_probabilities(const typename LaneVector<Lanes>::Floats* base, float reach, uint32_t used,
                        typename LaneVector<Lanes>::Floats* p) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  constexpr int kMostSteps = 16;
  LaneArray<Lanes> lanes;
  for_vectors<Lanes>([&](int j, int first) { store(lanes.lane + first, base[j]); });
  float level = lanes.largest() - reach;
  Floats u[V::kCount];
  for_vectors<Lanes>([&](int j, int) { u[j] = minimum(base[j] - level, Floats{}); });
  for (int step = 0; step < kMostSteps; ++step) {
    LaneArray<Lanes> sum, change, slope;
    Floats residual[V::kCount], inverse[V::kCount];
    for_vectors<Lanes>([&](int j, int first) {
      p[j] = lane_mask<Ints>(used, first) ? exponential<Floats, Ints>(u[j]) : Floats{};
      inverse[j] = 1.0f / (1.0f + reach * p[j]);
      residual[j] = base[j] - level - u[j] - reach * p[j];
      store(sum.lane + first, p[j]);
      store(slope.lane + first, p[j] * inverse[j]);
      store(change.lane + first, p[j] * inverse[j] * residual[j]);
    });
    const float raise = (sum.sum() - 1.0f + change.sum()) / slope.sum();
    level += raise;
    LaneArray<Lanes> moved;
    for_vectors<Lanes>([&](int j, int first) {
      const Floats by = (residual[j] - raise) * inverse[j];
      u[j] = minimum(u[j] + by, Floats{});
      store(moved.lane + first, p[j] * (by < 0.0f ? -by : by));
    });
    if (moved.largest() < 1e-6f) break;
  }
  LaneArray<Lanes> sum;
  for_vectors<Lanes>([&](int j, int first) {
    p[j] = lane_mask<Ints>(used, first) ? exponential<Floats, Ints>(u[j]) : Floats{};
    store(sum.lane + first, p[j]);
  });
  const float total = sum.sum();
  for_vectors<Lanes>([&](int j, int) { p[j] = p[j] / total; });
}

// Squared norms are taken for no larger than this. A longer row may overflow to infinity, which times an
// alpha of 0 is not a number; and its step, which only has to be short, is as good.
constexpr float kMostReach = 1e30f;

template <int Lanes>
void joint_pass(DescentPass& pass) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  for (int64_t at = 0; at < pass.n_order; ++at) {
    const uint32_t row = pass.order[at];
    const float cost = pass.cost[row];
    const float single_norm = std::min(pass.single_norm[row], kMostReach);
    float* alpha_row = pass.alpha + static_cast<int64_t>(row) * Lanes;
    Floats score[V::kCount], p[V::kCount], target[V::kCount], sign[V::kCount];
    multiply_row<Lanes>(pass.rows, row, pass.weights, Lanes, score);
    LaneArray<Lanes> lanes;
    for_vectors<Lanes>([&](int j, int first) {
      const Ints positive = lane_mask<Ints>(pass.positive[row], first);
      const Floats alpha = load<Floats>(alpha_row + first);
      sign[j] = positive ? Floats{} + 1.0f : Floats{} - 1.0f;
      p[j] = (positive ? cost - alpha : alpha) / cost;
      const Floats whole = score[j] + single_norm * sign[j] * alpha;
      score[j] = lane_mask<Ints>(pass.used, first) ? whole : Floats{} - 1e30f;
      store(lanes.lane + first, score[j]);
    });
    const float largest = lanes.largest();
    for_vectors<Lanes>([&](int j, int first) {
      target[j] =
          lane_mask<Ints>(pass.used, first) ? exponential<Floats, Ints>(score[j] - largest) : Floats{};
      store(lanes.lane + first, target[j]);
    });
    const float total = lanes.sum();
    // The largest score alone adds 1, unless scores have overflowed: then there is nothing to learn from
    // them.
    if (!(total >= 1.0f)) {
      pass.moved[row] = 0;
      continue;
    }
    uint32_t violated = 0;
    for_vectors<Lanes>([&](int j, int first) {
      // In units of the score: the slope of a softmax is at most 1/4.
      const Floats violation = 4.0f * (p[j] - target[j] / total);
      violated |= lane_bits((violation > pass.tolerance) | (violation < -pass.tolerance), first);
    });
    pass.moved[row] = (violated & pass.used) != 0;
    if (!pass.moved[row]) continue;
    pass.moved_lanes |= violated & pass.used;

    const float reach = std::min(pass.squared_norm[row] * cost, kMostReach);
    for_vectors<Lanes>([&](int j, int) { score[j] = score[j] + reach * p[j]; });
    best_probabilities<Lanes>(score, reach, pass.used, p);
    for_vectors<Lanes>([&](int j, int first) {
      const Floats alpha = load<Floats>(alpha_row + first);
      const Floats own = maximum(cost - cost * p[j], Floats{});
      const Floats next = lane_mask<Ints>(pass.positive[row], first) ? own : cost * p[j];
      store(alpha_row + first, next);
      score[j] = sign[j] * (next - alpha);
    });
    add_row<Lanes>(pass.rows, row, pass.weights, score, 0, V::kCount);
  }
}

void joint_pass(int lanes, DescentPass& pass) {
  with_lanes(lanes, [&](auto n) { joint_pass<n()>(pass); });
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
