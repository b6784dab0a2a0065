// Which features of a matrix are dense, told from their numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/feature_matrix.h"

namespace labeltree {

// Fewer than this gain nothing from being dense.
constexpr int64_t kFewestDense = 8;

// What decides, per feature: in how many rows it is not 0, and whether it is ever below 0.
struct FeatureCounts {
  explicit FeatureCounts(int64_t n_features) : n_nonzero(n_features, 0), is_negative(n_features, 0) {}

  template <class Value>
  void add(int64_t feature, Value value) {
    n_nonzero[feature] += value != 0;
    is_negative[feature] |= value < 0;
  }

  std::vector<int64_t> n_nonzero;
  std::vector<uint8_t> is_negative;
};

// All features, if each is not 0 in more than half of the rows. Else the longest run of such features at the
// end or at the beginning, each of which also has numbers below 0: that is an embedding beside something
// sparse, but not the frequent words of a text, whose counts are never below 0 and which must not be scaled
// apart from the others. Empty if that makes fewer than kFewestDense.
inline FeatureRange dense_range(const FeatureCounts& counts, int64_t n_rows) {
  const int64_t n = static_cast<int64_t>(counts.n_nonzero.size());
  const auto is_full = [&](int64_t f) { return 2 * counts.n_nonzero[f] > n_rows; };
  const auto is_dense = [&](int64_t f) { return is_full(f) && counts.is_negative[f]; };
  int64_t full = 0, head = 0, tail = 0;
  while (full < n && is_full(full)) ++full;
  while (head < n && is_dense(head)) ++head;
  while (tail < n && is_dense(n - 1 - tail)) ++tail;
  if (n < kFewestDense) return {};
  if (full == n) return {0, n};
  if (tail >= kFewestDense && tail >= head) return {n - tail, n};
  if (head >= kFewestDense) return {0, head};
  return {};
}

// Of rows whose features ascend. Sparse matrices are seen to be so at a glance.
template <class Offset, class Index, class Value>
FeatureRange dense_range(const Offset* indptr, int64_t n_rows, const Index* indices, const Value* data,
                         int64_t n_features) {
  int64_t n_first = 0, n_last = 0;
  for (int64_t row = 0; row < n_rows; ++row) {
    if (indptr[row] == indptr[row + 1]) continue;
    n_first += indices[indptr[row]] == 0;
    n_last += indices[indptr[row + 1] - 1] == n_features - 1;
  }
  if (2 * n_first <= n_rows && 2 * n_last <= n_rows) return {};
  FeatureCounts counts(n_features);
  for (int64_t k = 0; k < static_cast<int64_t>(indptr[n_rows]); ++k) counts.add(indices[k], data[k]);
  return dense_range(counts, n_rows);
}

template <class Value>
FeatureRange dense_range(const Value* data, int64_t n_rows, int64_t n_features) {
  FeatureCounts counts(n_features);
  for (int64_t row = 0; row < n_rows; ++row) {
    for (int64_t f = 0; f < n_features; ++f) counts.add(f, data[row * n_features + f]);
  }
  return dense_range(counts, n_rows);
}

}  // namespace labeltree
