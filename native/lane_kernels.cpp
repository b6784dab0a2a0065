#include "lane_kernels.h"

#include <type_traits>

#include "joint_kernels.h"
#include "primal_kernels.h"
#include "row_products.h"
#include "simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// Weights decay towards zero and numbers below 1e-38 cost thirty times as much: treat them as zero.
class FlushSubnormals {
#if defined(__SSE__)
 public:
  FlushSubnormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushSubnormals() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#endif
};

// What one coordinate step does with one vector of lanes: `margin` is class times score; the new alpha is
// returned, and by how much the old one violated its optimality condition is set.
template <class V>
struct SquaredHinge {
  using Floats = typename V::Floats;
  float diagonal, inverse_curvature;

  SquaredHinge(float cost, float squared_norm)
      : diagonal(0.5f / cost), inverse_curvature(1.0f / (squared_norm + diagonal)) {}

  Floats step(Floats margin, Floats alpha, Floats& violation) const {
    const Floats gradient = margin - 1.0f + diagonal * alpha;
    violation = alpha == 0.0f ? minimum(gradient, Floats{}) : gradient;
    return maximum(alpha - gradient * inverse_curvature, Floats{});
  }
};

// The optimum of one coordinate is where alpha = cost * sigmoid(-u), u being the margin after the step:
//   f(u) = u - base - reach * sigmoid(-u) = 0,  base = margin - squared_norm * alpha,  reach = squared_norm *
//   cost.
// Mirrored where the root is negative (u -> -u, base -> -base - reach), the root is never negative. There f
// rises and is concave, so Newton's method moves straight to the root from any point below it; from above it
// may overshoot and cycle. Good points below: base, the margin before the step, and a low estimate of
// log(reach / (root - base)).
template <class V>
struct Logistic {
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  float cost, squared_norm;

  Logistic(float cost, float squared_norm) : cost(cost), squared_norm(squared_norm) {}

  static Floats sigmoid_of_negative(Floats u) { return 1.0f / (1.0f + exponential<Floats, Ints>(u)); }

  Floats step(Floats margin, Floats alpha, Floats& violation) const {
    const float reach = squared_norm * cost;
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
    const bool far = reach > 16;
    if (far) raise(logarithm_from_below<Floats, Ints>(reach / (88.0f - minimum(base, Floats{}))));
    if (far) raise(logarithm_from_below<Floats, Ints>(reach / (u + 1.0f - minimum(base, Floats{}))));
    for (int iteration = 0; iteration < (far ? 8 : 4); ++iteration) {
      const Floats p = sigmoid_of_negative(u);
      u -= (u - base - reach * p) / (1.0f + reach * p * (1.0f - p));
    }
    return cost * sigmoid_of_negative(mirrored ? -u : u);
  }
};

template <int Lanes, template <class> class LossStep>
void descend(DescentPass& pass) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  constexpr int half = V::kCount / 2;
  for (int64_t at = 0; at < pass.n_order; ++at) {
    const uint32_t row = pass.order[at];
    const LossStep<V> loss(pass.cost[row], pass.squared_norm[row]);
    Floats step[V::kCount];
    multiply_row<Lanes>(pass.rows, row, pass.weights, Lanes, step);
    float* alpha_row = pass.alpha + static_cast<int64_t>(row) * Lanes;
    uint32_t moved = 0;
    for (int j = 0; j < V::kCount; ++j) {
      const int first = j * V::kWidth;
      const Ints positive = lane_mask<Ints>(pass.positive[row], first);
      const Floats sign = positive ? Floats{} + 1.0f : Floats{} - 1.0f;
      const Floats alpha = load<Floats>(alpha_row + first);
      Floats violation;
      Floats next = loss.step(sign * step[j] + pass.single_norm[row] * alpha, alpha, violation);
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

template <template <class> class LossStep>
void descend(int lanes, DescentPass& pass) {
  switch (lanes) {
    case 4:
      return descend<4, LossStep>(pass);
    case 8:
      return descend<8, LossStep>(pass);
    case 16:
      return descend<16, LossStep>(pass);
    default:
      return descend<32, LossStep>(pass);
  }
}

void descent_pass(Loss loss, int lanes, DescentPass& pass) {
  [[maybe_unused]] const FlushSubnormals flush;
  if (loss == Loss::squared_hinge) {
    descend<SquaredHinge>(lanes, pass);
  } else {
    descend<Logistic>(lanes, pass);
  }
}

// The derivative of a loss by the margin.
template <class V>
struct SquaredHingeSlope {
  using Floats = typename V::Floats;
  static Floats at(Floats margin) { return -2.0f * maximum(1.0f - margin, Floats{}); }
};

template <class V>
struct LogisticSlope {
  using Floats = typename V::Floats;
  static Floats at(Floats margin) { return -Logistic<V>::sigmoid_of_negative(margin); }
};

// What AdaGrad's sums of squared gradients start from: rows are of about unit length, so a feature has to
// move a good deal before its steps get smaller. From much less, rare features would get large weights at
// once.
constexpr float kAdaGradStart = 1.0f;

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
        store(w, load<Floats>(w) - pass.rate[at] * g / square_root(sum + kAdaGradStart));
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

template <int Lanes, template <int> class Update, template <class> class Slope>
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
      const Floats weight = Floats{} + pass.example_weight[row];
      const Floats signed_weight = positive ? weight : -weight;
      const Floats margin = scale * (positive ? gradient[j] : -gradient[j]);
      const Floats slope = signed_weight * Slope<V>::at(margin);
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

template <template <int> class Update, template <class> class Slope>
void learn(int lanes, const IncrementalPass& pass) {
  switch (lanes) {
    case 4:
      return learn<4, Update, Slope>(pass);
    case 8:
      return learn<8, Update, Slope>(pass);
    case 16:
      return learn<16, Update, Slope>(pass);
    default:
      return learn<32, Update, Slope>(pass);
  }
}

template <template <int> class Update>
void learn(Loss loss, int lanes, const IncrementalPass& pass) {
  if (loss == Loss::squared_hinge) {
    learn<Update, SquaredHingeSlope>(lanes, pass);
  } else {
    learn<Update, LogisticSlope>(lanes, pass);
  }
}

void incremental_pass(Solver solver, Loss loss, int lanes, const IncrementalPass& pass) {
  [[maybe_unused]] const FlushSubnormals flush;
  if (solver == Solver::adagrad) {
    learn<AdaGrad>(loss, lanes, pass);
  } else if (solver == Solver::sgd) {
    learn<StochasticGradient>(loss, lanes, pass);
  } else {
    learn<Fobos>(loss, lanes, pass);
  }
}

template <int Lanes>
void multiply_lanes(const LocalRows& rows, int64_t row, const float* columns, int stride, float* out) {
  using V = LaneVector<Lanes>;
  typename V::Floats sum[V::kCount];
  multiply_row<Lanes>(rows, row, columns, stride, sum);
  std::memcpy(out, sum, sizeof(sum));
}

void multiply(const LocalRows& rows, int64_t begin, int64_t end, const float* columns, int lanes,
              float* similarity) {
  [[maybe_unused]] const FlushSubnormals flush;
  for (int64_t row = begin; row < end; ++row) {
    float* out = similarity + row * lanes;
    int j = 0;
    for (; j + 32 <= lanes; j += 32) multiply_lanes<32>(rows, row, columns + j, lanes, out + j);
    if (j + 16 <= lanes) multiply_lanes<16>(rows, row, columns + j, lanes, out + j), j += 16;
    if (j + 8 <= lanes) multiply_lanes<8>(rows, row, columns + j, lanes, out + j), j += 8;
    if (j + 4 <= lanes) multiply_lanes<4>(rows, row, columns + j, lanes, out + j);
  }
}

template <int Lanes>
int64_t find_large(const float* weights, int64_t n_features, float bound, uint32_t* large) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  int64_t n_small = 0;
  for (int64_t f = 0; f < n_features; ++f) {
    uint32_t bits = 0, nonzero = 0;
    for (int j = 0; j < V::kCount; ++j) {
      const Floats w = load<Floats>(weights + f * Lanes + j * V::kWidth);
      bits |= lane_bits((w >= bound) | (w <= -bound), j * V::kWidth);
      nonzero |= lane_bits(w != 0.0f, j * V::kWidth);
    }
    large[f] = bits & nonzero;
    n_small += __builtin_popcount(nonzero & ~bits);
  }
  return n_small;
}

int64_t find_large(const float* weights, int64_t n_features, int lanes, float bound, uint32_t* large) {
  switch (lanes) {
    case 4:
      return find_large<4>(weights, n_features, bound, large);
    case 8:
      return find_large<8>(weights, n_features, bound, large);
    case 16:
      return find_large<16>(weights, n_features, bound, large);
    default:
      return find_large<32>(weights, n_features, bound, large);
  }
}

// Calls body with the number of lanes as a constant.
template <class Body>
void with_lanes(int lanes, const Body& body) {
  switch (lanes) {
    case 4:
      return body(std::integral_constant<int, 4>());
    case 8:
      return body(std::integral_constant<int, 8>());
    case 16:
      return body(std::integral_constant<int, 16>());
    default:
      return body(std::integral_constant<int, 32>());
  }
}

void start_round(Loss loss, int lanes, const LossParabolas& losses, int64_t begin, int64_t end,
                 const float* share) {
  [[maybe_unused]] const FlushSubnormals flush;
  with_lanes(lanes, [&](auto n) {
    if (loss == Loss::squared_hinge) {
      start_round<n(), SquaredHingeParabola>(losses, begin, end, share);
    } else {
      start_round<n(), LogisticParabola>(losses, begin, end, share);
    }
  });
}

void slope_along_step(Loss loss, int lanes, const LossParabolas& losses, int64_t begin, int64_t end,
                      const float* share, float* slope) {
  [[maybe_unused]] const FlushSubnormals flush;
  with_lanes(lanes, [&](auto n) {
    if (loss == Loss::squared_hinge) {
      slope_along_step<n(), SquaredHingeParabola>(losses, begin, end, share, slope);
    } else {
      slope_along_step<n(), LogisticParabola>(losses, begin, end, share, slope);
    }
  });
}

void joint_pass(int lanes, DescentPass& pass) {
  [[maybe_unused]] const FlushSubnormals flush;
  with_lanes(lanes, [&](auto n) { joint_pass<n()>(pass); });
}

void feature_pass(int lanes, FeaturePass& pass) {
  [[maybe_unused]] const FlushSubnormals flush;
  with_lanes(lanes, [&](auto n) { feature_pass<n()>(pass); });
}

}  // namespace

#define LABELTREE_STRING_(x) #x
#define LABELTREE_STRING(x) LABELTREE_STRING_(x)
extern const LaneKernels kernels;
const LaneKernels kernels = {LABELTREE_STRING(LABELTREE_ISA) + 4,
                             descent_pass,
                             joint_pass,
                             incremental_pass,
                             multiply,
                             find_large,
                             start_round,
                             slope_along_step,
                             feature_pass};

}  // namespace labeltree::LABELTREE_ISA
