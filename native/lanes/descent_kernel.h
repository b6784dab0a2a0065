// The loop of dual coordinate descent. Included only by lanes/kernels.cpp, like lanes/simd.h.
#pragma once

#include "lanes/kernels.h"
#include "lanes/loss_dispatch.h"
#include "lanes/row_products.h"
#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// Rows are visited at random: what a visit will read is asked for some visits before, and the weights of a
// short row during the visit before, which is too short to hide that they are far away.
template <int Lanes>
[[gnu::always_inline]] inline void prefetch_rows(const DescentPass& pass, int64_t at) {
  constexpr int kFar = 8, kNear = 4;
  constexpr int64_t kShortRow = 24;
  if (at + kFar >= pass.n_order) return;
  const uint32_t far = pass.order[at + kFar];
  __builtin_prefetch(pass.rows.row_begin + far);
  __builtin_prefetch(pass.cost + far);
  __builtin_prefetch(pass.squared_norm + far);
  __builtin_prefetch(pass.single_norm + far);
  __builtin_prefetch(pass.positive + far);
  for (int j = 0; j < Lanes; j += 16) __builtin_prefetch(pass.alpha + static_cast<int64_t>(far) * Lanes + j);
  const uint32_t near = pass.order[at + kNear];
  __builtin_prefetch(pass.rows.index + pass.rows.row_begin[near]);
  __builtin_prefetch(pass.rows.value + pass.rows.row_begin[near]);
  const uint32_t next = pass.order[at + 1];
  const int64_t begin = pass.rows.row_begin[next], end = pass.rows.row_begin[next + 1];
  if (end - begin > kShortRow) return;
  for (int64_t k = begin; k < end; ++k) {
    const float* w = pass.weights + static_cast<int64_t>(pass.rows.index[k]) * Lanes;
    for (int j = 0; j < Lanes; j += 16) __builtin_prefetch(w + j);
  }
}

template <int Lanes, class Type, bool CostPerLane>
void descend(DescentPass& pass) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  constexpr int half = V::kCount / 2;
  for (int64_t at = 0; at < pass.n_order; ++at) {
    const uint32_t row = pass.order[at];
    prefetch_rows<Lanes>(pass, at);
    const typename Type::template Of<V> loss(pass.cost[row], pass.squared_norm[row]);
    Floats step[V::kCount];
    multiply_row<Lanes>(pass.rows, row, pass.weights, Lanes, step);
    float* alpha_row = pass.alpha + static_cast<int64_t>(row) * Lanes;
    uint32_t moved = 0;
    for (int j = 0; j < V::kCount; ++j) {
      const int first = j * V::kWidth;
      const Ints positive = lane_mask<Ints>(pass.positive[row], first);
      const Floats sign = positive ? Floats{} + 1.0f : Floats{} - 1.0f;
      const Floats alpha = load<Floats>(alpha_row + first);
      const Floats margin = sign * step[j] + pass.single_norm[row] * alpha;
      Floats violation, next;
      if constexpr (CostPerLane) {
        const Floats cost = load<Floats>(pass.lane_cost + static_cast<int64_t>(row) * Lanes + first);
        next = typename Type::template Of<V, Floats>(cost, pass.squared_norm[row])
                   .step(margin, alpha, violation);
      } else {
        next = loss.step(margin, alpha, violation);
      }
      const Ints moving =
          lane_mask<Ints>(pass.used, first) & ((violation > pass.tolerance) | (violation < -pass.tolerance));
      const uint32_t lanes = lane_bits(moving, first);
      if (lanes == 0) continue;
      moved |= lanes;
      next = moving ? next : alpha;
      step[j] = sign * (next - alpha);
      store(alpha_row + first, next);
    }
    pass.moved[row] = moved != 0;
    pass.moved_lanes |= moved;
    // Few lanes move at a time: often only half of them need be touched.
    constexpr uint32_t low = (1u << (Lanes / 2)) - 1;
    if (moved == 0) continue;
    for (int j = 0; j < V::kCount; ++j) {
      if (((moved >> (j * V::kWidth)) & ((1u << V::kWidth) - 1)) == 0) step[j] = Floats{};
    }
    const int begin = half > 0 && (moved & low) == 0 ? half : 0;
    const int end = half > 0 && (moved & ~low) == 0 ? half : V::kCount;
    if (end - begin == V::kCount)
      add_row<Lanes>(pass.rows, row, pass.weights, step, 0, V::kCount);
    else if (begin == 0)
      add_row<Lanes>(pass.rows, row, pass.weights, step, 0, half);
    else
      add_row<Lanes>(pass.rows, row, pass.weights, step, half, V::kCount);
  }
}

void descent_pass(Loss loss, int lanes, DescentPass& pass) {
  with_loss(loss, [&](auto type) {
    using Type = decltype(type);
    if (pass.lane_cost != nullptr) {
      with_lanes(lanes, [&](auto n) { descend<n(), Type, true>(pass); });
    } else {
      with_lanes(lanes, [&](auto n) { descend<n(), Type, false>(pass); });
    }
  });
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
