// The squared loss: (1 - margin)^2. Included only by training/loss_list.h.
#pragma once

#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// As the squared hinge loss without the bound at 0: a margin beyond 1 is drawn back to it by a negative
// alpha.
template <class V, class Cost>
struct Squared {
  using Floats = typename V::Floats;
  static constexpr bool kPrimal = true, kIncremental = false, kJoint = false;
  Cost diagonal, inverse_curvature;

  Squared(Cost cost, float squared_norm)
      : diagonal(0.5f / cost), inverse_curvature(1.0f / (squared_norm + diagonal)) {}

  Floats step(Floats margin, Floats alpha, Floats& violation) const {
    violation = margin - 1.0f + diagonal * alpha;
    return alpha - violation * inverse_curvature;
  }

  static Floats slope(Floats margin) { return 2.0f * (margin - 1.0f); }
  static Floats curvature(Floats, Floats cost) { return 2.0f * cost; }
  static double best_score(double positive, double negative) {
    return (positive - negative) / (positive + negative);
  }
};

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
