// A copy of some rows with new numbers of features, so that the matrices of a block are small and dense.
#pragma once

#include <cstdint>
#include <vector>

#include "core/feature_matrix.h"
#include "core/progress.h"
#include "lanes/kernels.h"

namespace labeltree {

struct LocalBlock {
  std::vector<int64_t> row_begin;
  std::vector<int32_t> index;
  std::vector<float> value;
  std::vector<int32_t> feature;  // local number -> feature
  std::vector<float> dense;      // [row][dense feature]
  int32_t n_dense = 0;

  int64_t n_rows() const { return static_cast<int64_t>(row_begin.size()) - 1; }
  // Those with a local number; the dense features come after them.
  int32_t n_features() const { return static_cast<int32_t>(feature.size()); }
  int64_t n_weights() const { return int64_t{n_features()} + n_dense; }
  LocalRows rows() const {
    return {row_begin.data(), index.data(), value.data(), dense.data(), n_dense, n_features()};
  }
};

// Makes LocalBlocks; keeps a table of all features, so one per worker.
class LocalBlockMaker {
 public:
  explicit LocalBlockMaker(int64_t n_features) : local_(n_features, -1) {}

  // Sparse features are numbered as they first appear. Dense ones are not, they stay a matrix; unless
  // `only_entries`: then they are entries like the others.
  // With a bias other than 0 every row ends with that value at one more feature, numbered n_features() - 1
  // and listed in `feature` as matrix.n_features().
  LocalBlock make(const FeatureMatrix& matrix, const int32_t* rows, int64_t n_rows, float bias,
                  const Progress& progress, bool only_entries = false) {
    LocalBlock block;
    block.row_begin.reserve(n_rows + 1);
    block.row_begin.push_back(0);
    int64_t capacity = 0;
    for (int64_t i = 0; i < n_rows; ++i) capacity += matrix.row_capacity(rows[i]) + (bias != 0);
    block.index.reserve(capacity);
    block.value.reserve(capacity);
    if (!only_entries) block.n_dense = static_cast<int32_t>(matrix.dense().size());
    block.dense.reserve(n_rows * block.n_dense);
    FeatureRow row;
    for (int64_t i = 0; i < n_rows; ++i) {
      if (i % kRowsPerCheck == 0) progress.check();
      row.clear();
      only_entries ? matrix.append_entries(rows[i], row) : matrix.append(rows[i], row);
      for (int32_t& feature : row.index) {
        int32_t& local = local_[feature];
        if (local < 0) {
          local = block.n_features();
          block.feature.push_back(feature);
        }
        feature = local;
      }
      block.index.insert(block.index.end(), row.index.begin(), row.index.end());
      block.value.insert(block.value.end(), row.value.begin(), row.value.end());
      block.dense.insert(block.dense.end(), row.dense.begin(), row.dense.end());
      if (bias != 0) {
        block.index.push_back(-1);  // to be the last number
        block.value.push_back(bias);
      }
      block.row_begin.push_back(static_cast<int64_t>(block.index.size()));
    }
    for (const int32_t feature : block.feature) local_[feature] = -1;
    if (bias != 0) {
      for (int64_t i = 0; i < n_rows; ++i) block.index[block.row_begin[i + 1] - 1] = block.n_features();
      block.feature.push_back(static_cast<int32_t>(matrix.n_features()));
    }
    return block;
  }

  // The same with the numbers of another block; features that it does not have are left out. All features
  // are entries.
  LocalBlock make_like(const LocalBlock& other, const FeatureMatrix& matrix, const int32_t* rows,
                       int64_t n_rows, const Progress& progress) {
    LocalBlock block;
    block.row_begin.reserve(n_rows + 1);
    block.row_begin.push_back(0);
    for (int32_t i = 0; i < other.n_features(); ++i) local_[other.feature[i]] = i;
    FeatureRow row;
    for (int64_t i = 0; i < n_rows; ++i) {
      if (i % kRowsPerCheck == 0) progress.check();
      row.clear();
      matrix.append_entries(rows[i], row);
      for (size_t k = 0; k < row.index.size(); ++k) {
        if (local_[row.index[k]] < 0) continue;
        block.index.push_back(local_[row.index[k]]);
        block.value.push_back(row.value[k]);
      }
      block.row_begin.push_back(static_cast<int64_t>(block.index.size()));
    }
    for (const int32_t feature : other.feature) local_[feature] = -1;
    return block;
  }

 private:
  static constexpr int64_t kRowsPerCheck = 1 << 14;
  std::vector<int32_t> local_;
};

}  // namespace labeltree
