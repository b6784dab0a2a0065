// Some rows of a feature matrix, copied.
#pragma once

#include <cstdint>
#include <vector>

#include "core/feature_matrix.h"

namespace labeltree {

class CopiedRows {
 public:
  CopiedRows(const FeatureMatrix& features, const std::vector<int64_t>& rows)
      : n_features_(features.n_features()), dense_(features.dense()) {
    indptr_.reserve(rows.size() + 1);
    for (const int64_t row : rows) {
      features.append_entries(row, entries_);
      indptr_.push_back(static_cast<int64_t>(entries_.index.size()));
    }
  }

  // A view of this copy. The rows are scaled already.
  FeatureMatrix matrix() const {
    return FeatureMatrix::csr(static_cast<int64_t>(indptr_.size()) - 1, n_features_, indptr_.data(),
                              entries_.index.data(), entries_.value.data(), false, dense_);
  }

 private:
  int64_t n_features_;
  FeatureRange dense_;
  FeatureRow entries_;
  std::vector<int64_t> indptr_{0};
};

}  // namespace labeltree
