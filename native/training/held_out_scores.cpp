#include "training/held_out_scores.h"

#include <algorithm>

#include "core/advance.h"
#include "lanes/kernels.h"

namespace labeltree {

namespace {

constexpr int64_t kScoredRowsPerCall = 4096;

}  // namespace

void HeldOutScores::assign(const LocalBlock& rows, const StoredGroup& group, int n_columns,
                           const Progress& progress) {
  lanes_ = lanes_for(n_columns);
  weights_.reset(int64_t{rows.n_features()} * lanes_);
  const GroupWeights& stored = group.sparse;
  uint32_t entry = 0;
  auto local = rows.feature.begin();
  for (size_t f = 0; f < stored.feature.size(); ++f) {
    local = advance_to(local, rows.feature.end(), stored.feature[f]);
    const bool is_there = local != rows.feature.end() && *local == stored.feature[f];
    float* to = weights_.data() + (local - rows.feature.begin()) * lanes_;
    for (; entry < stored.entry_end[f]; ++entry) {
      if (is_there) to[stored.column[entry]] = stored.weight[entry];
    }
  }

  LocalRows sparse = rows.rows();
  sparse.n_dense = 0;
  scores_.reset(rows.n_rows() * lanes_);
  std::vector<const float*> dense;
  std::vector<float*> sums;
  for (int64_t begin = 0; begin < rows.n_rows(); begin += kScoredRowsPerCall) {
    progress.check();
    const int64_t end = std::min(rows.n_rows(), begin + kScoredRowsPerCall);
    lane_kernels().multiply(sparse, begin, end, weights_.data(), lanes_, scores_.data());
    dense.clear();
    sums.clear();
    for (int64_t i = begin; i < end; ++i) {
      float* score = scores_.data() + i * lanes_;
      for (int c = 0; c < n_columns; ++c) score[c] += group.bias[c];
      dense.push_back(rows.dense.data() + i * rows.n_dense);
      sums.push_back(score);
    }
    if (rows.n_dense == 0) continue;
    lane_kernels().add_products_unfused(dense.data(), static_cast<int>(end - begin), rows.n_dense,
                                        {VectorType::float32, group.panels.data(), nullptr}, n_columns,
                                        sums.data());
  }
}

}  // namespace labeltree
