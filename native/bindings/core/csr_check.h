// Checks of CSR arrays, which the kernel relies on.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "bindings/core/arrays.h"
#include "core/feature_matrix.h"

namespace labeltree {

[[noreturn]] inline void bad_row(int64_t row, const std::string& what) {
  throw std::invalid_argument("X, row " + std::to_string(row) + ": " + what);
}

// Checks what the kernel relies on. Returns whether the rows are sorted and free of duplicates.
template <class Offset, class Index, class Value>
bool check_csr(const Offset* indptr, int64_t n_rows, const Index* indices, int64_t n_indices,
               const Value* data, int64_t n_features) {
  bool canonical = true;
  if (indptr[0] != 0) throw std::invalid_argument("X: indptr must start with 0");
  for (int64_t row = 0; row < n_rows; ++row) {
    const int64_t begin = indptr[row], end = indptr[row + 1];
    if (end < begin || end > n_indices) bad_row(row, "indptr is not ascending within the length of indices");
    int64_t last = -1;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t index = indices[k];
      if (index < 0 || index >= n_features) {
        bad_row(row, "feature " + std::to_string(index) + " is outside 0.." + std::to_string(n_features - 1));
      }
      if (!(std::fabs(data[k]) <= static_cast<Value>(3.4e38))) {
        bad_row(row, "feature " + std::to_string(index) + " is NaN, inf or too large for float32");
      }
      canonical = canonical && index > last;
      last = index;
    }
  }
  return canonical;
}

// The features from begin to end.
using Range = std::optional<std::pair<int64_t, int64_t>>;

inline FeatureRange checked_range(const std::pair<int64_t, int64_t>& range, int64_t n_features) {
  require(range.first >= 0 && range.first <= range.second && range.second <= n_features,
          "the range of dense features is not within the features");
  return {range.first, range.second};
}

}  // namespace labeltree
