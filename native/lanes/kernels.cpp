#include "lanes/kernels.h"

#include <cstring>

#include "core/flush_subnormals.h"
#include "lanes/descent_kernel.h"
#include "lanes/incremental_kernel.h"
#include "lanes/loss_dispatch.h"
#include "lanes/online_kernel.h"
#include "lanes/panel_products.h"
#include "lanes/primal_kernel.h"
#include "lanes/row_products.h"
#include "lanes/simd.h"
#include "lanes/softmax_kernel.h"
#include "lanes/vector_kernel.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// A kernel with subnormal numbers taken for zero while it runs: weights decay towards zero.
template <auto Kernel>
struct Flushed;
template <class Result, class... Arguments, Result (*Kernel)(Arguments...)>
struct Flushed<Kernel> {
  static Result run(Arguments... arguments) {
    [[maybe_unused]] const FlushSubnormals flush;
    return Kernel(arguments...);
  }
};

template <int Lanes>
void multiply_lanes(const LocalRows& rows, int64_t row, const float* columns, int stride, float* out) {
  using V = LaneVector<Lanes>;
  typename V::Floats sum[V::kCount];
  multiply_row<Lanes>(rows, row, columns, stride, sum);
  std::memcpy(out, sum, sizeof(sum));
}

void multiply(const LocalRows& rows, int64_t begin, int64_t end, const float* columns, int lanes,
              float* similarity) {
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

template <class Number>
inline void add_shrunk_at(const float* sum, float threshold, float value, float* score) {
  const Number s = load_anywhere<Number>(sum);
  const Number weight = maximum(s - threshold, Number{}) + minimum(s + threshold, Number{});
  const Number result = load_anywhere<Number>(score) + value * weight;
  std::memcpy(score, &result, sizeof(result));
}

void add_shrunk(const float* sums, int64_t n, float threshold, float value, float* scores) {
  using Floats = Simd<kNaturalWidth>::Floats;
  int64_t k = 0;
  for (; k + kNaturalWidth <= n; k += kNaturalWidth) {
    add_shrunk_at<Floats>(sums + k, threshold, value, scores + k);
  }
  for (; k < n; ++k) add_shrunk_at<float>(sums + k, threshold, value, scores + k);
}

}  // namespace

#define LABELTREE_STRING_(x) #x
#define LABELTREE_STRING(x) LABELTREE_STRING_(x)
const VectorKernels vector_kernels = {sum_vectors,    dot_vectors,       dot_each,   mix_vectors,
                                      apply_logistic, apply_exponential, step_vector};
extern const LaneKernels kernels;
const LaneKernels kernels = {&LABELTREE_STRING(LABELTREE_ISA)[4],
                             takes_loss,
                             best_score,
                             Flushed<descent_pass>::run,
                             Flushed<static_cast<PassOfSoftmax>(softmax_pass)>::run,
                             Flushed<incremental_pass>::run,
                             Flushed<score_growing>::run,
                             Flushed<gradient_of_lanes>::run,
                             Flushed<step_growing>::run,
                             Flushed<static_cast<StartRound>(start_round)>::run,
                             Flushed<static_cast<SlopeAlongStep>(slope_along_step)>::run,
                             Flushed<static_cast<PassOverFeatures>(feature_pass)>::run,
                             Flushed<multiply>::run,
                             find_large,
                             add_products<true>,
                             add_products<false>,
                             add_shrunk,
                             &vector_kernels};

}  // namespace labeltree::LABELTREE_ISA
