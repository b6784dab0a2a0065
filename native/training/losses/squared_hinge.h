// The squared hinge loss: (1 - margin)^2 where the margin is below 1, else 0. Included only by
// training/loss_list.h.
#pragma once

#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

template <class V, class Cost>
struct SquaredHinge {
  using Floats = typename V::Floats;
  static constexpr bool kPrimal = true, kIncremental = true, kJoint = false;
  Cost diagonal, inverse_curvature;

  SquaredHinge(Cost cost, float squared_norm)
      : diagonal(0.5f / cost), inverse_curvature(1.0f / (squared_norm + diagonal)) {}

  Floats step(Floats margin, Floats alpha, Floats& violation) const {
    const Floats gradient = margin - 1.0f + diagonal * alpha;
    violation = alpha == 0.0f ? minimum(gradient, Floats{}) : gradient;
    return maximum(alpha - gradient * inverse_curvature, Floats{});
  }

  static Floats slope(Floats margin) { return -2.0f * maximum(1.0f - margin, Floats{}); }
  static Floats curvature(Floats margin, Floats cost) { return margin < 1.0f ? 2.0f * cost : Floats{}; }
  static double best_score(double positive, double negative) {
    return (positive - negative) / (positive + negative);
  }
};

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
