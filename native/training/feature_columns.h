// The rows of a block by feature.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "training/local_block.h"

namespace labeltree {

struct FeatureColumns {
  std::vector<int64_t> begin;
  std::vector<int32_t> row;  // ascending within a feature
  std::vector<float> value;
  std::vector<float> largest;  // per feature, of the absolute values

  void assign(const LocalBlock& rows) {
    const int32_t n = rows.n_features();
    begin.assign(n + 1, 0);
    for (const int32_t feature : rows.index) ++begin[feature + 1];
    for (int32_t f = 0; f < n; ++f) begin[f + 1] += begin[f];
    row.resize(rows.index.size());
    value.resize(rows.index.size());
    largest.assign(n, 0.0f);
    at_.assign(begin.begin(), begin.end() - 1);
    for (int64_t i = 0; i < rows.n_rows(); ++i) {
      for (int64_t k = rows.row_begin[i]; k < rows.row_begin[i + 1]; ++k) {
        const int32_t feature = rows.index[k];
        const int64_t to = at_[feature]++;
        row[to] = static_cast<int32_t>(i);
        value[to] = rows.value[k];
        largest[feature] = std::max(largest[feature], std::fabs(rows.value[k]));
      }
    }
  }

  LocalRows view() const { return {begin.data(), row.data(), value.data(), nullptr, 0, 0}; }

 private:
  std::vector<int64_t> at_;
};

}  // namespace labeltree
