// The weights of one tree, block by block, as flat arrays. Training makes them, files hold them, searches
// read them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned_floats.h"
#include "core/label_tree.h"
#include "lanes/kernels.h"

namespace labeltree {

// Block 0 is the root's own classifier (one column: node 0). Block i > 0 holds the children of the i-th inner
// node in node order, one column per child. Block b has the features
//   feature[block_begin[b] .. block_begin[b + 1]), ascending;
// the f-th feature of the tree, in block b, has the entries [entry_begin[f + b], entry_begin[f + b + 1])
// counted from block_entry_begin[b] (each block has one more entry_begin than it has features). An entry is a
// column of the block and a weight. bias[v] is what the score of node v starts from.
//
// A joint block has a column per code instead: a set of children, child c being bit c, that some example has
// its labels below. Those of block b are code[code_begin[b] .. code_begin[b + 1]), ascending, and start from
// code_bias. The scores of the codes give their probabilities by softmax, and those the children's. If no
// block is joint, the three arrays are empty.
//
// Dense features are not among these. Block b has the panels [panels before b, ...), one for every 16
// columns, each with 16 weights for every dense feature, 0 beyond the last column: see
// LaneKernels::add_products.
struct BlockArrays {
  std::vector<int64_t> block_begin;
  std::vector<int64_t> block_entry_begin;
  std::vector<int32_t> feature;
  std::vector<uint32_t> entry_begin;
  std::vector<uint32_t> column;
  std::vector<float> weight;
  std::vector<float> bias;
  AlignedVector dense_weight;
  std::vector<int64_t> code_begin;
  std::vector<uint8_t> code;
  std::vector<float> code_bias;
};

// The number of panels that hold the dense weights of n_columns columns.
inline int64_t n_panels(int64_t n_columns) { return (n_columns + kPanelColumns - 1) / kPanelColumns; }

// The score of a node that is always, or (negated) never, positive: far enough for every link to give 1 or 0.
constexpr float kCertainScore = 1000.0f;

// The maximum number of children of a joint block: its codes are then fewer than the lanes of a group.
constexpr int kMaxJointChildren = 5;

// The inner nodes in order: block i + 1 belongs to the i-th.
inline std::vector<int32_t> inner_nodes(const LabelTreeView& tree) {
  std::vector<int32_t> inner;
  for (int32_t v = 0; v < tree.n_nodes; ++v) {
    if (!tree.is_leaf(v)) inner.push_back(v);
  }
  return inner;
}

}  // namespace labeltree
