// The loop of the incremental solvers. Included only by lanes/kernels.cpp, like lanes/simd.h.
#pragma once

#include "lanes/kernels.h"
#include "lanes/loss_dispatch.h"
#include "lanes/row_products.h"
#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// What one row does to the weights: bring them up to date, tell the scale of what they then score, and make a
// step against the gradient by the score.
template <int Lanes>
struct AdaGrad {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;

  static void prepare(const IncrementalPass&, int64_t) {}
  static float scale(const IncrementalPass&, int64_t) { return 1; }
  static void update(const IncrementalPass& pass, int64_t at, const Floats* gradient, int first, int last) {
    const uint32_t row = pass.order[at];
    for (int64_t k = pass.rows.row_begin[row]; k < pass.rows.row_begin[row + 1]; ++k) {
      const int64_t offset = static_cast<int64_t>(pass.rows.index[k]) * Lanes;
      for (int j = first; j < last; ++j) {
        float* w = pass.weights + offset + j * V::kWidth;
        float* squares = pass.squares + offset + j * V::kWidth;
        const Floats g = pass.rows.value[k] * gradient[j];
        const Floats sum = load<Floats>(squares) + g * g;
        store(squares, sum);
        store(w, load<Floats>(w) - pass.rate[at] * g / square_root(sum + pass.initial_accumulator));
      }
    }
  }
};

template <int Lanes>
struct StochasticGradient {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;

  static void prepare(const IncrementalPass&, int64_t) {}
  static float scale(const IncrementalPass& pass, int64_t at) { return static_cast<float>(pass.penalty[at]); }
  static void update(const IncrementalPass& pass, int64_t at, const Floats* gradient, int first, int last) {
    const float rate = pass.rate[at] / static_cast<float>(pass.penalty[at + 1]);
    Floats step[V::kCount];
    for (int j = first; j < last; ++j) step[j] = -rate * gradient[j];
    add_row<Lanes>(pass.rows, pass.order[at], pass.weights, step, first, last);
  }
};

// Soft thresholds add up: a feature is shrunk by all that it missed when a row has it again.
template <int Lanes>
struct Fobos {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;

  static void prepare(const IncrementalPass& pass, int64_t at) {
    const uint32_t row = pass.order[at];
    for (int64_t k = pass.rows.row_begin[row]; k < pass.rows.row_begin[row + 1]; ++k) {
      const int32_t feature = pass.rows.index[k];
      const float missed = static_cast<float>(pass.penalty[at] - pass.shrunk[feature]);
      pass.shrunk[feature] = pass.penalty[at];
      float* w = pass.weights + static_cast<int64_t>(feature) * Lanes;
      for (int j = 0; j < V::kCount; ++j, w += V::kWidth) {
        const Floats old = load<Floats>(w);
        store(w, maximum(old - missed, Floats{}) + minimum(old + missed, Floats{}));
      }
    }
  }
  static float scale(const IncrementalPass&, int64_t) { return 1; }
  static void update(const IncrementalPass& pass, int64_t at, const Floats* gradient, int first, int last) {
    Floats step[V::kCount];
    for (int j = first; j < last; ++j) step[j] = -pass.rate[at] * gradient[j];
    add_row<Lanes>(pass.rows, pass.order[at], pass.weights, step, first, last);
  }
};

template <int Lanes, template <int> class Update, class Type>
void learn(const IncrementalPass& pass) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  constexpr int half = V::kCount / 2;
  for (int64_t at = 0; at < pass.n_order; ++at) {
    const uint32_t row = pass.order[at];
    Update<Lanes>::prepare(pass, at);
    Floats gradient[V::kCount];  // by the score
    multiply_row<Lanes>(pass.rows, row, pass.weights, Lanes, gradient);
    const float scale = Update<Lanes>::scale(pass, at);
    bool moves[2] = {};
    for (int j = 0; j < V::kCount; ++j) {
      const int first = j * V::kWidth;
      const Ints positive = lane_mask<Ints>(pass.positive[row], first);
      const Floats weight = pass.lane_weight != nullptr
                                ? load<Floats>(pass.lane_weight + static_cast<int64_t>(row) * Lanes + first)
                                : Floats{} + pass.example_weight[row];
      const Floats signed_weight = positive ? weight : -weight;
      const Floats margin = scale * (positive ? gradient[j] : -gradient[j]);
      const Floats slope = signed_weight * Type::template Of<V>::slope(margin);
      gradient[j] = lane_mask<Ints>(pass.used, first) ? slope : Floats{};
      moves[half > 0 && j >= half] |= lane_bits(gradient[j] != 0.0f, first) != 0;
    }
    // A lane without a gradient stays as it is: often only half of them need be touched.
    if (moves[0] && moves[1])
      Update<Lanes>::update(pass, at, gradient, 0, V::kCount);
    else if (moves[0])
      Update<Lanes>::update(pass, at, gradient, 0, half > 0 ? half : V::kCount);
    else if (moves[1])
      Update<Lanes>::update(pass, at, gradient, half, V::kCount);
  }
}

template <template <int> class Update>
void learn(Loss loss, int lanes, const IncrementalPass& pass) {
  with_loss(loss, [&](auto type) {
    using Type = decltype(type);
    if constexpr (Type::kIncremental) {
      with_lanes(lanes, [&](auto n) { learn<n(), Update, Type>(pass); });
    }
  });
}

void incremental_pass(Solver solver, Loss loss, int lanes, const IncrementalPass& pass) {
  if (solver == Solver::adagrad) {
    learn<AdaGrad>(loss, lanes, pass);
  } else if (solver == Solver::sgd) {
    learn<StochasticGradient>(loss, lanes, pass);
  } else {
    learn<Fobos>(loss, lanes, pass);
  }
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
