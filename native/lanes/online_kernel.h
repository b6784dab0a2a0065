// One example against one growing block. Included only by lanes/kernels.cpp, like lanes/simd.h.
#pragma once

#include "lanes/incremental_kernel.h"
#include "lanes/kernels.h"
#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// Calls body(first lane, number of lanes as a constant) for parts of `width` lanes, large ones first. A
// lane's result does not depend on which part it is in: operations are lane by lane.
template <class Body>
[[gnu::always_inline]] inline void for_lanes(int width, const Body& body) {
  int first = 0;
  for (; width - first >= 32; first += 32) body(first, std::integral_constant<int, 32>());
  if (width - first >= 16) body(first, std::integral_constant<int, 16>()), first += 16;
  if (width - first >= 8) body(first, std::integral_constant<int, 8>()), first += 8;
  if (width - first >= 4) body(first, std::integral_constant<int, 4>()), first += 4;
  if (width - first >= 2) body(first, std::integral_constant<int, 2>()), first += 2;
  if (width - first >= 1) body(first, std::integral_constant<int, 1>());
}

// Rows to ask memory for ahead of their use.
constexpr int64_t kRowsAhead = 8;

// A weight after the soft thresholds it has missed.
template <class Floats>
inline Floats shrunk_by(Floats w, float missed) {
  return maximum(w - missed, Floats{}) + minimum(w + missed, Floats{});
}

template <int Lanes, bool Shrinks>
[[gnu::always_inline]] inline void score_lanes(const GrowingRows& rows, int first, float* out) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  // Two chains, by the place of a feature in the example: a feature that the block lacks changes nothing.
  Floats even[V::kCount] = {}, odd[V::kCount] = {};
  const auto add = [&](int64_t k, Floats* sum) {
    if (k + kRowsAhead < rows.n) {
      const float* ahead = rows.weights + rows.row[k + kRowsAhead] * rows.unit + first;
      __builtin_prefetch(ahead);
      if (Lanes >= 8) __builtin_prefetch(ahead + rows.squares);
    }
    const float* w = rows.weights + rows.row[k] * rows.unit + first;
    const float missed = Shrinks ? static_cast<float>(rows.penalty - rows.shrunk[rows.row[k]]) : 0.0f;
    for (int j = 0; j < V::kCount; ++j) {
      Floats weight = load_anywhere<Floats>(w + j * V::kWidth);
      if (Shrinks) weight = shrunk_by(weight, missed);
      sum[j] += rows.value[k] * weight;
    }
  };
  int64_t k = 0;
  for (; k + 1 < rows.n; k += 2) add(k, even), add(k + 1, odd);
  if (k < rows.n) add(k, even);
  for (int j = 0; j < V::kCount; ++j) {
    const Floats total = even[j] + odd[j];
    std::memcpy(out + first + j * V::kWidth, &total, sizeof(total));
  }
}

void score_growing(const GrowingRows& rows, int width, float* scores) {
  if (rows.shrunk != nullptr) {
    for_lanes(width, [&](int first, auto n) { score_lanes<n(), true>(rows, first, scores); });
  } else {
    for_lanes(width, [&](int first, auto n) { score_lanes<n(), false>(rows, first, scores); });
  }
}

template <class Type>
bool find_gradient(int width, const float* scores, float scale, const uint32_t* positive,
                   const uint32_t* used, float weight, float* gradient) {
  bool moves = false;
  for_lanes(width, [&](int first, auto n) {
    using V = LaneVector<n()>;
    using Floats = typename V::Floats;
    using Ints = typename V::Ints;
    for (int j = 0; j < V::kCount; ++j) {
      const int lane = first + j * V::kWidth;
      const Ints is_positive = lane_mask<Ints>(positive[lane / 32], lane % 32);
      const Floats score = load_anywhere<Floats>(scores + lane);
      const Floats margin = scale * (is_positive ? score : -score);
      const Floats signed_weight = is_positive ? Floats{} + weight : Floats{} - weight;
      const Floats slope = signed_weight * Type::template Of<V>::slope(margin);
      const Floats g = lane_mask<Ints>(used[lane / 32], lane % 32) ? slope : Floats{};
      std::memcpy(gradient + lane, &g, sizeof(g));
      moves |= lane_bits(g != 0.0f, 0) != 0;
    }
  });
  return moves;
}

bool gradient_of_lanes(Loss loss, int width, const float* scores, float scale, const uint32_t* positive,
                       const uint32_t* used, float weight, float* gradient) {
  bool moves = false;
  with_loss(loss, [&](auto type) {
    using Type = decltype(type);
    if constexpr (Type::kIncremental) {
      moves = find_gradient<Type>(width, scores, scale, positive, used, weight, gradient);
    }
  });
  return moves;
}

template <int Lanes, Solver Kind>
[[gnu::always_inline]] inline void step_lanes(const GrowingRows& rows, int first, const float* gradient,
                                              float rate) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  Floats slope[V::kCount];
  for (int j = 0; j < V::kCount; ++j) slope[j] = load_anywhere<Floats>(gradient + first + j * V::kWidth);
  for (int64_t k = 0; k < rows.n; ++k) {
    float* w = rows.weights + rows.row[k] * rows.unit + first;
    const float missed =
        Kind == Solver::fobos ? static_cast<float>(rows.penalty - rows.shrunk[rows.row[k]]) : 0.0f;
    for (int j = 0; j < V::kCount; ++j, w += V::kWidth) {
      const Floats g = rows.value[k] * slope[j];
      Floats weight = load_anywhere<Floats>(w);
      if (Kind == Solver::adagrad) {
        const Floats sum = load_anywhere<Floats>(w + rows.squares) + g * g;
        std::memcpy(w + rows.squares, &sum, sizeof(sum));
        weight -= rate * g / square_root(sum + rows.initial_accumulator);
      } else {
        if (Kind == Solver::fobos) weight = shrunk_by(weight, missed);
        weight -= rate * g;
      }
      std::memcpy(w, &weight, sizeof(weight));
    }
  }
}

void step_growing(Solver solver, const GrowingRows& rows, int width, const float* gradient, float rate) {
  for_lanes(width, [&](int first, auto n) {
    if (solver == Solver::adagrad) {
      step_lanes<n(), Solver::adagrad>(rows, first, gradient, rate);
    } else if (solver == Solver::sgd) {
      step_lanes<n(), Solver::sgd>(rows, first, gradient, rate);
    } else {
      step_lanes<n(), Solver::fobos>(rows, first, gradient, rate);
    }
  });
  if (solver != Solver::fobos) return;
  for (int64_t k = 0; k < rows.n; ++k) rows.shrunk[rows.row[k]] = rows.penalty;
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
