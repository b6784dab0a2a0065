// The logistic loss: log(1 + exp(-margin)). Included only by training/loss_list.h.
#pragma once

#include <cmath>

#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// The optimum of one coordinate is where alpha = cost * sigmoid(-u), u being the margin after the step:
//   f(u) = u - base - reach * sigmoid(-u) = 0,  base = margin - squared_norm * alpha,  reach = squared_norm *
//   cost.
// Mirrored where the root is negative (u -> -u, base -> -base - reach), the root is never negative. There f
// rises and is concave, so Newton's method moves straight to the root from any point below it; from above it
// may overshoot and cycle. Good points below: base, the margin before the step, and a low estimate of
// log(reach / (root - base)).
template <class V, class Cost>
struct Logistic {
  using Floats = typename V::Floats;
  static constexpr bool kPrimal = true, kIncremental = true, kJoint = true;
  using Ints = typename V::Ints;
  Cost cost;
  float squared_norm;

  Logistic(Cost cost, float squared_norm) : cost(cost), squared_norm(squared_norm) {}

  static Floats sigmoid_of_negative(Floats u) { return 1.0f / (1.0f + exponential<Floats, Ints>(u)); }

  // Whether the root may be far from all points but the last. Costs per lane are never asked: the answer
  // for a lane must not depend on which others are in its vector.
  static bool is_far(float reach) { return reach > 16; }
  static bool is_far(Floats) { return true; }

  Floats step(Floats margin, Floats alpha, Floats& violation) const {
    const Cost reach = squared_norm * cost;
    // In units of the margin: the sigmoid's slope is at most 1/4.
    violation = 4.0f * (alpha / cost - sigmoid_of_negative(margin));

    Floats base = margin - squared_norm * alpha;
    const Ints mirrored = base + 0.5f * reach < 0.0f;
    base = mirrored ? -base - reach : base;
    const auto value = [&](Floats u) -> Floats { return u - base - reach * sigmoid_of_negative(u); };
    Floats u = maximum(base, Floats{});
    const auto raise = [&](Floats candidate) {
      u = ((candidate > u) & (value(candidate) <= 0.0f)) ? candidate : u;
    };
    raise(mirrored ? -margin : margin);
    const bool far = is_far(reach);
    if (far) raise(logarithm_from_below<Floats, Ints>(reach / (88.0f - minimum(base, Floats{}))));
    if (far) raise(logarithm_from_below<Floats, Ints>(reach / (u + 1.0f - minimum(base, Floats{}))));
    for (int iteration = 0; iteration < (far ? 8 : 4); ++iteration) {
      const Floats p = sigmoid_of_negative(u);
      u -= (u - base - reach * p) / (1.0f + reach * p * (1.0f - p));
    }
    return cost * sigmoid_of_negative(mirrored ? -u : u);
  }

  static Floats slope(Floats margin) { return -sigmoid_of_negative(margin); }
  static Floats curvature(Floats margin, Floats cost) {
    const Floats p = sigmoid_of_negative(margin);
    return cost * p * (1.0f - p);
  }
  static double best_score(double positive, double negative) { return std::log(positive / negative); }
};

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
