// Columns that were trained in chunks become the one wide block of a flat tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/block_arrays.h"
#include "model/block_store.h"

namespace labeltree {

// A chunk of columns, see ColumnChunk, where it is: in memory or in a mapped file.
struct ColumnChunkView {
  Span<int32_t> label;
  Span<int32_t> feature;
  Span<uint32_t> entry_begin, column;
  Span<float> weight, bias, dense_weight;
};

// Throws unless the numbers of a chunk, which may come from a file, lead nowhere but into its own arrays.
inline void check_chunk(const ColumnChunkView& chunk, int32_t n_labels, int64_t n_features, int64_t n_dense) {
  const auto require = [](bool condition) {
    if (!condition) throw std::invalid_argument("the arrays of a chunk of columns contradict each other");
  };
  require(chunk.entry_begin.size == chunk.feature.size + 1 && chunk.column.size == chunk.weight.size &&
          chunk.bias.size == chunk.label.size &&
          chunk.dense_weight.size == n_panels(chunk.label.size) * n_dense * kPanelColumns);
  for (int64_t i = 0; i < chunk.label.size; ++i) require(chunk.label[i] >= 0 && chunk.label[i] < n_labels);
  require(chunk.entry_begin[0] == 0 && chunk.entry_begin[chunk.feature.size] == chunk.column.size);
  for (int64_t f = 0; f < chunk.feature.size; ++f) {
    require(chunk.feature[f] >= (f == 0 ? 0 : chunk.feature[f - 1] + 1) && chunk.feature[f] < n_features &&
            chunk.entry_begin[f] <= chunk.entry_begin[f + 1]);
  }
  for (int64_t e = 0; e < chunk.column.size; ++e) {
    require(chunk.column[e] < static_cast<uint32_t>(n_labels));
  }
}

// The arrays of the flat tree with these columns, which has block 0, the root, without weights and always
// positive. Labels that no chunk has are never positive; those of `always` are, for all examples. Columns are
// written in the fewest bytes that hold them, so they are no part of BlockArrays.
template <class Column>
BlockArrays merge_columns(const std::vector<ColumnChunkView>& chunks, const std::vector<int32_t>& always,
                          int32_t n_labels, int64_t n_features, int64_t n_dense,
                          std::vector<Column>& column) {
  std::vector<int64_t> count(n_features + 1, 0);
  for (const ColumnChunkView& chunk : chunks) {
    check_chunk(chunk, n_labels, n_features, n_dense);
    for (int64_t f = 0; f < chunk.feature.size; ++f) {
      count[chunk.feature[f] + 1] += chunk.entry_begin[f + 1] - chunk.entry_begin[f];
    }
  }
  BlockArrays arrays;
  arrays.entry_begin.push_back(0);  // of block 0, which has no feature
  for (int64_t f = 0; f < n_features; ++f) {
    if (count[f + 1] > 0) {
      arrays.feature.push_back(static_cast<int32_t>(f));
      arrays.entry_begin.push_back(static_cast<uint32_t>(count[f]));
    }
    count[f + 1] += count[f];
  }
  const int64_t n_entries = count[n_features];
  if (n_entries > std::numeric_limits<uint32_t>::max()) {
    throw std::invalid_argument("the block of all labels would have " + std::to_string(n_entries) +
                                " weights, but it can have 4,294,967,295 at most; use a larger prune");
  }
  arrays.entry_begin.push_back(static_cast<uint32_t>(n_entries));
  const auto n_kept = static_cast<int64_t>(arrays.feature.size());
  arrays.block_begin = {0, 0, n_kept};
  arrays.block_entry_begin = {0, 0, n_entries};

  column.resize(n_entries);
  arrays.weight.resize(n_entries);
  arrays.bias.assign(int64_t{n_labels} + 1, -kCertainScore);
  arrays.bias[0] = kCertainScore;
  for (const int32_t label : always) arrays.bias[1 + int64_t{label}] = kCertainScore;
  const int64_t panel_size = n_dense * kPanelColumns;
  arrays.dense_weight.assign((1 + n_panels(n_labels)) * panel_size, 0.0f);  // the root's panel is the first
  for (const ColumnChunkView& chunk : chunks) {
    // From now on count[f] is where the next entry of feature f goes.
    for (int64_t f = 0; f < chunk.feature.size; ++f) {
      int64_t& to = count[chunk.feature[f]];
      const int64_t begin = chunk.entry_begin[f], end = chunk.entry_begin[f + 1];
      for (int64_t e = begin; e < end; ++e) column[to + e - begin] = static_cast<Column>(chunk.column[e]);
      std::copy(chunk.weight.data + begin, chunk.weight.data + end, arrays.weight.begin() + to);
      to += end - begin;
    }
    for (int64_t i = 0; i < chunk.label.size; ++i) {
      const int64_t label = chunk.label[i];
      arrays.bias[1 + label] = chunk.bias[i];
      const float* from = chunk.dense_weight.data + i / kPanelColumns * panel_size + i % kPanelColumns;
      float* to =
          arrays.dense_weight.data() + (1 + label / kPanelColumns) * panel_size + label % kPanelColumns;
      for (int64_t d = 0; d < n_dense; ++d) to[d * kPanelColumns] = from[d * kPanelColumns];
    }
  }
  return arrays;
}

}  // namespace labeltree
