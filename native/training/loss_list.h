// All losses of the node classifiers. A loss is its header in training/losses/ and a line in each part of
// this list; solvers find it here.
#pragma once

#if defined(LABELTREE_ISA)  // in lanes/kernels.cpp alone: losses are vector code, see lanes/simd.h
#include "training/losses/exponential.h"
#include "training/losses/logistic.h"
#include "training/losses/squared.h"
#include "training/losses/squared_hinge.h"
#endif

// entry(name, the struct of its header)
//
// `margin` is class times score. `Cost` is float, where all lanes of an example cost the same, or a vector
// with a cost for each. The struct is made from the cost of an example and its squared norm and has
//   step(margin, alpha, violation): the alpha after one step of dual coordinate descent; `violation` is set
//   to
//     how far the old one violated its optimality condition, in units of the margin;
//   kPrimal: whether primal coordinate descent (the penalty l1) takes it, and then
//     slope(margin): the derivative of the loss,
//     curvature(margin, cost): the cost times its second derivative,
//     best_score(positive, negative): the best score of an example that is of both classes, at these costs;
//   kIncremental: whether the incremental solvers and online trees take it, and then slope(margin);
//   kJoint: whether siblings can be learned together by it.
#define LABELTREE_LOSSES(entry)                                                        \
  entry(squared_hinge, SquaredHinge) entry(logistic, Logistic) entry(squared, Squared) \
      entry(exponential, Exponential)

namespace labeltree {

#define LABELTREE_LOSS_NAME(name, Struct) name,
enum class Loss : int { LABELTREE_LOSSES(LABELTREE_LOSS_NAME) };
#undef LABELTREE_LOSS_NAME

enum class LossUse { dual, primal, incremental, joint };

// Throws std::invalid_argument, saying that `learner` does not take the loss, unless it does.
void check_loss(Loss loss, LossUse use, const char* learner);

}  // namespace labeltree
