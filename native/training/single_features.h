// Features that only one row of a block has. Their weights follow from the dual variables of that row, so the
// solver keeps no room for them: rare words are many of a block's features, and few of its entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "training/local_block.h"

namespace labeltree {

struct SingleFeatures {
  std::vector<int32_t> feature;  // ascending
  std::vector<int32_t> row;
  std::vector<float> value;
  std::vector<float> squared_norm;  // of what was taken, per row of the block
};

// Takes them out of the block (none, if not `take`) and gives the other features new numbers, ascending.
inline SingleFeatures take_singles(LocalBlock& block, bool take) {
  const int32_t n = block.n_features();
  std::vector<int32_t> count(n, 0);
  for (const int32_t local : block.index) ++count[local];
  std::vector<std::pair<int32_t, int32_t>> by_feature(n);
  for (int32_t local = 0; local < n; ++local) by_feature[local] = {block.feature[local], local};
  std::sort(by_feature.begin(), by_feature.end());

  SingleFeatures singles;
  std::vector<int32_t> number(n);  // -1 - i for the i-th single feature
  block.feature.clear();
  for (const auto& [feature, local] : by_feature) {
    if (take && count[local] == 1) {
      number[local] = -1 - static_cast<int32_t>(singles.feature.size());
      singles.feature.push_back(feature);
    } else {
      number[local] = block.n_features();
      block.feature.push_back(feature);
    }
  }

  singles.row.resize(singles.feature.size());
  singles.value.resize(singles.feature.size());
  singles.squared_norm.resize(block.n_rows());
  int64_t begin = 0, to = 0;
  for (int64_t row = 0; row < block.n_rows(); ++row) {
    const int64_t end = block.row_begin[row + 1];
    double squares = 0;
    for (int64_t at = begin; at < end; ++at) {
      const int32_t to_number = number[block.index[at]];
      const float value = block.value[at];
      if (to_number >= 0) {
        block.index[to] = to_number;
        block.value[to++] = value;
      } else {
        singles.row[-1 - to_number] = static_cast<int32_t>(row);
        singles.value[-1 - to_number] = value;
        squares += static_cast<double>(value) * value;
      }
    }
    singles.squared_norm[row] = static_cast<float>(squares);
    begin = end;
    block.row_begin[row + 1] = to;
  }
  block.index.resize(to);
  block.value.resize(to);
  return singles;
}

}  // namespace labeltree
