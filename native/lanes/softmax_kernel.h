// Dual coordinate descent on one problem whose classes are the lanes. Included only by lanes/kernels.cpp.
#pragma once

#include <algorithm>

#include "lanes/kernels.h"
#include "lanes/row_products.h"
#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// Lane by lane, as an array: horizontal sums are taken in the same order for vectors of any width.
template <int Lanes>
struct alignas(64) LaneArray {
  float lane[Lanes];

  template <class Join>
  float fold(const Join& join) const {
    LaneArray part = *this;
    for (int half = Lanes / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) part.lane[j] = join(part.lane[j], part.lane[j + half]);
    }
    return part.lane[0];
  }
};

// The classes of a softmax: `n_chunks` times `Lanes` floats. The first `n_used` of them are classes. One
// chunk is by far the most frequent; if `IsOne` says so, loops are unrolled and numbers kept in registers.
template <int Lanes, bool IsOne>
class ClassLanes {
 public:
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;

  ClassLanes(int n_chunks, int n_used) : n_chunks_(IsOne ? 1 : n_chunks), n_used_(n_used) {}

  // Calls body(at, used) for every vector of lanes: where it begins, and which of its lanes are classes.
  template <class Body>
  void for_vectors(const Body& body) const {
    for (int chunk = 0; chunk < (IsOne ? 1 : n_chunks_); ++chunk) {
      const uint32_t used = used_of(chunk);
      for (int j = 0; j < V::kCount; ++j) {
        const int first = j * V::kWidth;
        body(chunk * Lanes + first, lane_mask<Ints>(used, first));
      }
    }
  }

  // The sum of what body(at, used) gives for all vectors.
  template <class Body>
  float sum(const Body& body) const {
    return fold(body, [](auto a, auto b) { return a + b; });
  }
  template <class Body>
  float largest(const Body& body) const {
    return fold(body, [](auto a, auto b) { return a > b ? a : b; });
  }

 private:
  uint32_t used_of(int chunk) const {
    const int n = n_used_ - chunk * Lanes;
    return n >= 32 ? ~0u : (1u << n) - 1;
  }

  template <class Body, class Join>
  float fold(const Body& body, const Join& join) const {
    LaneArray<Lanes> total;
    for_vectors([&](int at, Ints used) {
      const Floats value = body(at, used);
      float* to = total.lane + at % Lanes;
      store(to, at < Lanes ? value : join(load<Floats>(to), value));
    });
    return total.fold(join);
  }

  int n_chunks_, n_used_;
};

// The step of one row. Without its own part, cost * (share - p) times the row, its scores are `base` where
// the part of the shares is in; with it they are base - reach * p. The best p are those that are the softmax
// of that:
//   log p_j + reach * p_j = base_j - level  for all j,  sum_j p_j = 1.
// Newton's method on all u_j = log p_j and the level at once, from where the largest p is 1: there the sum is
// not too small and the u_j are not, so that it moves down towards the solution.
template <int Lanes, bool IsOne>
[[gnu::always_inline]] inline void best_probabilities(const ClassLanes<Lanes, IsOne>& lanes,
                                                      const float* base, float reach, float* u,
                                                      float* residual, float* p) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  constexpr int kMostSteps = 16;
  const auto power_of_u = [&](int at, Ints used) {
    return used ? exponential<Floats, Ints>(load<Floats>(u + at)) : Floats{};
  };
  const auto inverse_at = [&](int at) { return 1.0f / (1.0f + reach * load<Floats>(p + at)); };
  float level = lanes.largest([&](int at, Ints) { return load<Floats>(base + at); }) - reach;
  lanes.for_vectors([&](int at, Ints) { store(u + at, minimum(load<Floats>(base + at) - level, Floats{})); });
  for (int step = 0; step < kMostSteps; ++step) {
    const float sum = lanes.sum([&](int at, Ints used) {
      const Floats power = power_of_u(at, used);
      store(p + at, power);
      store(residual + at, load<Floats>(base + at) - level - load<Floats>(u + at) - reach * power);
      return power;
    });
    const float slope = lanes.sum([&](int at, Ints) { return load<Floats>(p + at) * inverse_at(at); });
    const float change = lanes.sum(
        [&](int at, Ints) { return load<Floats>(p + at) * inverse_at(at) * load<Floats>(residual + at); });
    const float raise = (sum - 1.0f + change) / slope;
    level += raise;
    const float moved = lanes.largest([&](int at, Ints) {
      const Floats by = (load<Floats>(residual + at) - raise) * inverse_at(at);
      store(u + at, minimum(load<Floats>(u + at) + by, Floats{}));
      return load<Floats>(p + at) * (by < 0.0f ? -by : by);
    });
    if (moved < 1e-6f) break;
  }
  const float total = lanes.sum([&](int at, Ints used) {
    const Floats power = power_of_u(at, used);
    store(p + at, power);
    return power;
  });
  lanes.for_vectors([&](int at, Ints) { store(p + at, load<Floats>(p + at) / total); });
}

// Squared norms are taken for no larger than this. A longer row may overflow to infinity, which times an
// alpha of 0 is not a number; and its step, which only has to be short, is as good.
constexpr float kMostReach = 1e30f;

template <int Lanes, bool IsOne>
void softmax_pass(SoftmaxPass& pass) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  const ClassLanes<Lanes, IsOne> lanes(pass.n_chunks, pass.n_classes);
  const int n_chunks = IsOne ? 1 : pass.n_chunks;
  const int64_t n_lanes = int64_t{n_chunks} * Lanes;
  // Five numbers per lane that only this row needs.
  alignas(64) float own_scratch[IsOne ? 5 * Lanes : 1];
  float* score = IsOne ? own_scratch : pass.scratch;
  float* p = score + n_lanes;
  float* target = p + n_lanes;
  float* u = target + n_lanes;
  float* residual = u + n_lanes;
  for (int64_t at_row = 0; at_row < pass.n_order; ++at_row) {
    const uint32_t row = pass.order[at_row];
    const float cost = pass.cost[row];
    const float single_norm = std::min(pass.single_norm[row], kMostReach);
    const auto alpha_at = [&](int at) {
      return pass.alpha + (at / Lanes * pass.n_rows + row) * Lanes + at % Lanes;
    };
    for (int chunk = 0; chunk < n_chunks; ++chunk) {
      Floats sum[V::kCount];
      multiply_row<Lanes>(pass.rows, row, pass.weights + chunk * pass.chunk_size, Lanes, sum);
      for (int j = 0; j < V::kCount; ++j) store(score + chunk * Lanes + j * V::kWidth, sum[j]);
    }
    lanes.for_vectors([&](int at, Ints used) {
      const Floats alpha = load<Floats>(alpha_at(at));
      const Floats whole = load<Floats>(score + at) + single_norm * alpha;
      store(score + at, used ? whole : Floats{} - 1e30f);
      store(p + at, -alpha / cost);
    });
    const int64_t share_begin = pass.share_begin[row], share_end = pass.share_begin[row + 1];
    for (int64_t k = share_begin; k < share_end; ++k) p[pass.share_class[k]] += pass.share[k];

    const float largest = lanes.largest([&](int at, Ints) { return load<Floats>(score + at); });
    const float total = lanes.sum([&](int at, Ints used) {
      const Floats power = used ? exponential<Floats, Ints>(load<Floats>(score + at) - largest) : Floats{};
      store(target + at, power);
      return power;
    });
    // The largest score alone adds 1, unless scores have overflowed: then there is nothing to learn from
    // them.
    if (!(total >= 1.0f)) {
      pass.moved[row] = 0;
      continue;
    }
    // In units of the score: the slope of a softmax is at most 1/4.
    const float violation = 4.0f * lanes.largest([&](int at, Ints) {
      const Floats gap = load<Floats>(p + at) - load<Floats>(target + at) / total;
      return gap < 0.0f ? -gap : gap;
    });
    pass.moved[row] = violation > pass.tolerance;
    if (!pass.moved[row]) continue;
    pass.any_moved = true;

    const float reach = std::min(pass.squared_norm[row] * cost, kMostReach);
    lanes.for_vectors(
        [&](int at, Ints) { store(score + at, load<Floats>(score + at) + reach * load<Floats>(p + at)); });
    best_probabilities(lanes, score, reach, u, residual, p);
    // What the row adds to the weights from now on.
    lanes.for_vectors([&](int at, Ints) { store(target + at, -cost * load<Floats>(p + at)); });
    for (int64_t k = share_begin; k < share_end; ++k) target[pass.share_class[k]] += cost * pass.share[k];
    for (int chunk = 0; chunk < n_chunks; ++chunk) {
      Floats step[V::kCount];
      for (int j = 0; j < V::kCount; ++j) {
        const int at = chunk * Lanes + j * V::kWidth;
        const Floats next = load<Floats>(target + at);
        step[j] = next - load<Floats>(alpha_at(at));
        store(alpha_at(at), next);
      }
      add_row<Lanes>(pass.rows, row, pass.weights + chunk * pass.chunk_size, step, 0, V::kCount);
    }
  }
}

void softmax_pass(int lanes, SoftmaxPass& pass) {
  if (pass.n_chunks > 1) return softmax_pass<kMaxLanes, false>(pass);
  with_lanes(lanes, [&](auto n) { softmax_pass<n(), true>(pass); });
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
