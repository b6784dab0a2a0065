// From the name of a loss to its vector code. Included only by lanes/kernels.cpp, like lanes/simd.h.
#pragma once

#include "lanes/simd.h"
#include "training/loss_list.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// A loss as a type: Of<V> is its struct for vectors V.
template <template <class, class> class Struct>
struct LossType {
  template <class V, class Cost = float>
  using Of = Struct<V, Cost>;
  static constexpr bool kPrimal = Of<LaneVector<4>>::kPrimal;
  static constexpr bool kIncremental = Of<LaneVector<4>>::kIncremental;
  static constexpr bool kJoint = Of<LaneVector<4>>::kJoint;
};

// Calls body(LossType). Whoever calls a kernel has asked check_loss() before: see training/loss_list.h.
template <class Body>
inline void with_loss(Loss loss, const Body& body) {
  switch (loss) {
#define LABELTREE_LOSS_CASE(name, Struct) \
  case Loss::name:                        \
    return body(LossType<Struct>());
    LABELTREE_LOSSES(LABELTREE_LOSS_CASE)
#undef LABELTREE_LOSS_CASE
  }
}

bool takes_loss(Loss loss, LossUse use) {
  bool takes = false;
  with_loss(loss, [&](auto type) {
    using Type = decltype(type);
    takes = use == LossUse::dual || (use == LossUse::primal && Type::kPrimal) ||
            (use == LossUse::incremental && Type::kIncremental) || (use == LossUse::joint && Type::kJoint);
  });
  return takes;
}

double best_score(Loss loss, double positive, double negative) {
  double score = 0;
  with_loss(loss, [&](auto type) {
    using Type = decltype(type);
    if constexpr (Type::kPrimal) score = Type::template Of<LaneVector<4>>::best_score(positive, negative);
  });
  return score;
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
