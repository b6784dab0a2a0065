// What one coordinate step does with one vector of lanes, for every loss: `margin` is class times score; the
// new alpha is returned, and by how much the old one violated its optimality condition is set, in units of
// the margin. `Cost` is float, where all lanes of an example cost the same, or a vector with a cost for each.
// Included only by lanes/kernels.cpp, as lanes/simd.h is, and for the same reason.
#pragma once

#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

template <class V, class Cost>
struct SquaredHinge {
  using Floats = typename V::Floats;
  Cost diagonal, inverse_curvature;

  SquaredHinge(Cost cost, float squared_norm)
      : diagonal(0.5f / cost), inverse_curvature(1.0f / (squared_norm + diagonal)) {}

  Floats step(Floats margin, Floats alpha, Floats& violation) const {
    const Floats gradient = margin - 1.0f + diagonal * alpha;
    violation = alpha == 0.0f ? minimum(gradient, Floats{}) : gradient;
    return maximum(alpha - gradient * inverse_curvature, Floats{});
  }
};

// The same without the bound at 0: who is beyond the margin is drawn back to it by a negative alpha.
template <class V, class Cost>
struct Squared {
  using Floats = typename V::Floats;
  Cost diagonal, inverse_curvature;

  Squared(Cost cost, float squared_norm)
      : diagonal(0.5f / cost), inverse_curvature(1.0f / (squared_norm + diagonal)) {}

  Floats step(Floats margin, Floats alpha, Floats& violation) const {
    violation = margin - 1.0f + diagonal * alpha;
    return alpha - violation * inverse_curvature;
  }
};

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
      u = (candidate > u) & (value(candidate) <= 0.0f) ? candidate : u;
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
};

// The optimum of one coordinate is where alpha = cost * exp(-u), u being the margin after the step. With
// z = squared_norm * alpha, which is what alpha adds to the margin:
//   f(z) = z - exp(high - z) = 0,  high = log(squared_norm * cost) - (margin before the step, without alpha).
// f rises and is concave: Newton's method never overshoots. The root is Lambert's W(exp(high)), and for
// high > 1 at most 0.37 above high - log(high).
template <class V, class Cost>
struct Exponential {
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  Cost cost;
  float squared_norm;

  // A row without features has alpha = cost, which any tiny norm gives too.
  Exponential(Cost cost, float squared_norm)
      : cost(cost), squared_norm(squared_norm > 1e-20f ? squared_norm : 1e-20f) {}

  Floats step(Floats margin, Floats alpha, Floats& violation) const {
    const Floats slope = exponential<Floats, Ints>(-margin);
    // In units of the margin where the loss is steep; where it is flat, as if it were as steep as at 0.
    violation = (alpha / cost - slope) / maximum(slope, Floats{} + 1.0f);

    // One by one: the product of a huge norm and a huge cost is more than a float can hold.
    const Floats high = logarithm<Floats, Ints>(Floats{} + squared_norm) +
                        logarithm<Floats, Ints>(Floats{} + cost) - (margin - squared_norm * alpha);
    Floats z = high > 1.0f ? high - logarithm<Floats, Ints>(maximum(high, Floats{} + 1.0f)) : Floats{};
    for (int iteration = 0; iteration < 5; ++iteration) {
      const Floats e = exponential<Floats, Ints>(high - z);
      z += (e - z) / (1.0f + e);
    }
    return z / squared_norm;
  }
};

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
