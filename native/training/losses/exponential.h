// The exponential loss: exp(-margin). Included only by training/loss_list.h.
#pragma once

#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// The optimum of one coordinate is where alpha = cost * exp(-u), u being the margin after the step. With
// z = squared_norm * alpha, which is what alpha adds to the margin:
//   f(z) = z - exp(high - z) = 0,  high = log(squared_norm * cost) - (margin before the step, without alpha).
// f rises and is concave: Newton's method never overshoots. The root is Lambert's W(exp(high)), and for
// high > 1 at most 0.37 above high - log(high).
template <class V, class Cost>
struct Exponential {
  using Floats = typename V::Floats;
  static constexpr bool kPrimal = false, kIncremental = false, kJoint = false;
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
