// Rows times matrices whose columns are vector lanes. Included only by lanes/kernels.cpp, like lanes/simd.h.
#pragma once

#include <type_traits>

#include "lanes/kernels.h"
#include "lanes/simd.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// Inlined into every loop that calls them, so that sums stay in registers and ranges of vectors are known.
template <int Lanes>
[[gnu::always_inline]] inline void multiply_row(const LocalRows& rows, int64_t row, const float* columns,
                                                int64_t stride, typename LaneVector<Lanes>::Floats* sum) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  for (int j = 0; j < V::kCount; ++j) sum[j] = Floats{};
  const int64_t end = rows.row_begin[row + 1];
  int64_t k = rows.row_begin[row];
  // Two chains of additions hide the latency of one. As many for every instruction set: sums are rounded
  // alike.
  Floats other[V::kCount] = {};
  for (; k + 1 < end; k += 2) {
    const float* w0 = columns + rows.index[k] * stride;
    const float* w1 = columns + rows.index[k + 1] * stride;
    for (int j = 0; j < V::kCount; ++j) {
      sum[j] += rows.value[k] * load<Floats>(w0 + j * V::kWidth);
      other[j] += rows.value[k + 1] * load<Floats>(w1 + j * V::kWidth);
    }
  }
  if (k < end) {
    const float* w = columns + rows.index[k] * stride;
    for (int j = 0; j < V::kCount; ++j) sum[j] += rows.value[k] * load<Floats>(w + j * V::kWidth);
  }
  const float* x = rows.dense + row * rows.n_dense;
  const float* w = columns + rows.first_dense * stride;
  int64_t d = 0;
  for (; d + 1 < rows.n_dense; d += 2, w += 2 * stride) {
    for (int j = 0; j < V::kCount; ++j) {
      sum[j] += x[d] * load<Floats>(w + j * V::kWidth);
      other[j] += x[d + 1] * load<Floats>(w + stride + j * V::kWidth);
    }
  }
  if (d < rows.n_dense) {
    for (int j = 0; j < V::kCount; ++j) sum[j] += x[d] * load<Floats>(w + j * V::kWidth);
  }
  for (int j = 0; j < V::kCount; ++j) sum[j] += other[j];
}

// Adds the row times step[first .. last) to those vectors of the weights.
template <int Lanes>
[[gnu::always_inline]] inline void add_row(const LocalRows& rows, int64_t row, float* weights,
                                           const typename LaneVector<Lanes>::Floats* step, int first,
                                           int last) {
  using V = LaneVector<Lanes>;
  using Floats = typename V::Floats;
  for (int64_t k = rows.row_begin[row]; k < rows.row_begin[row + 1]; ++k) {
    float* w = weights + static_cast<int64_t>(rows.index[k]) * Lanes;
    for (int j = first; j < last; ++j) {
      store(w + j * V::kWidth, load<Floats>(w + j * V::kWidth) + rows.value[k] * step[j]);
    }
  }
  const float* x = rows.dense + row * rows.n_dense;
  float* w = weights + static_cast<int64_t>(rows.first_dense) * Lanes;
  for (int64_t d = 0; d < rows.n_dense; ++d, w += Lanes) {
    for (int j = first; j < last; ++j) {
      store(w + j * V::kWidth, load<Floats>(w + j * V::kWidth) + x[d] * step[j]);
    }
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

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
