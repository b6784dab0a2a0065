// Rows times dense weights, many at a time. Included only by lanes/kernels.cpp, like lanes/simd.h.
#pragma once

#include <cstring>
#include <type_traits>

#include "lanes/kernels.h"
#include "lanes/simd.h"
#include "lanes/vector_kernel.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// Rows times the panels of some columns, whose weights are of type T.
template <class T>
struct PanelProducts {
  const float* const* rows;
  int n_rows;
  int64_t n_features;
  const T* panels;
  const float* scale;  // with int8 only
  int n_columns;
  float* const* sums;
};

// As many products as there are registers for: they are in flight together.
constexpr int kTileRows = kNaturalWidth == 16 ? 8 : kNaturalWidth == 8 ? 4 : 2;
constexpr int kTilePanels = kNaturalWidth == 16 ? 2 : 1;

template <bool Fused, int Rows, int Panels, class T>
inline void add_tile(const PanelProducts<T>& p, int row, int panel) {
  using V = LaneVector<kPanelColumns>;
  using Floats = typename V::Floats;
  constexpr int n_vectors = Panels * V::kCount;
  const float* const* rows = p.rows + row;
  constexpr bool is_scaled = std::is_same_v<T, int8_t>;
  const T* panels = p.panels + panel * p.n_features * kPanelColumns;
  Floats scale[n_vectors];
  if constexpr (is_scaled) {
    for (int v = 0; v < n_vectors; ++v) {
      scale[v] = load_anywhere<Floats>(p.scale + panel * kPanelColumns + v * V::kWidth);
    }
  }
  Floats product[Rows][n_vectors] = {};
  for (int64_t f = 0; f < p.n_features; ++f) {
    Floats weight[n_vectors];
    for (int v = 0; v < n_vectors; ++v) {
      const T* at = panels + (v / V::kCount * p.n_features + f) * kPanelColumns;
      weight[v] = widen(at + v % V::kCount * V::kWidth);
      if constexpr (is_scaled) weight[v] *= scale[v];
    }
    for (int i = 0; i < Rows; ++i) {
      const Floats value = Floats{} + rows[i][f];
      for (int v = 0; v < n_vectors; ++v) {
        product[i][v] =
            Fused ? multiply_add(value, weight[v], product[i][v]) : value * weight[v] + product[i][v];
      }
    }
  }
  const int first = panel * kPanelColumns;
  const int n_left = p.n_columns - first, n = Panels * kPanelColumns;
  for (int i = 0; i < Rows; ++i) {
    float columns[Panels * kPanelColumns];
    std::memcpy(columns, product[i], sizeof(columns));
    float* sums = p.sums[row + i] + first;
    for (int c = 0; c < (n_left < n ? n_left : n); ++c) sums[c] += columns[c];
  }
}

// All rows against a few panels, which stay in cache.
template <bool Fused, int Panels, class T>
void add_panels(const PanelProducts<T>& p, int panel) {
  int row = 0;
  for (; row + kTileRows <= p.n_rows; row += kTileRows) add_tile<Fused, kTileRows, Panels>(p, row, panel);
  if (kTileRows > 4 && row + 4 <= p.n_rows) add_tile<Fused, 4, Panels>(p, row, panel), row += 4;
  if (kTileRows > 2 && row + 2 <= p.n_rows) add_tile<Fused, 2, Panels>(p, row, panel), row += 2;
  if (row < p.n_rows) add_tile<Fused, 1, Panels>(p, row, panel);
}

template <bool Fused, class T>
void add_products_of(const PanelProducts<T>& p) {
  const int n_panels = (p.n_columns + kPanelColumns - 1) / kPanelColumns;
  int panel = 0;
  if (p.n_rows == 1) {  // one row alone waits for memory: ask for more of it at a time
    for (; panel + 4 <= n_panels; panel += 4) add_tile<Fused, 1, 4>(p, 0, panel);
  }
  for (; panel + kTilePanels <= n_panels; panel += kTilePanels) add_panels<Fused, kTilePanels>(p, panel);
  for (; panel < n_panels; ++panel) add_panels<Fused, 1>(p, panel);
}

template <bool Fused>
void add_products(const float* const* rows, int n_rows, int64_t n_features, const PanelWeights& panels,
                  int n_columns, float* const* sums) {
  panels.visit([&]<class T>(const T* items) {
    add_products_of<Fused, T>({rows, n_rows, n_features, items, panels.scale, n_columns, sums});
  });
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
