// A few examples that are learned together: their words, and the blocks of siblings that they train.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "core/label_tree.h"
#include "embedding/entries_by_item.h"

namespace labeltree {

// The blocks of a tree as far as training needs them: block 0 has the root alone, block i > 0 the children of
// the i-th inner node. See model/block_arrays.h.
class TreeBlocks {
 public:
  explicit TreeBlocks(const LabelTreeView& tree);

  const LabelTreeView& tree() const { return tree_; }
  int32_t n_blocks() const { return static_cast<int32_t>(first_.size()); }
  int32_t first_node(int32_t block) const { return first_[block]; }
  int32_t n_columns(int32_t block) const { return n_columns_[block]; }
  int32_t block_of(int32_t inner) const { return block_of_[inner]; }
  int32_t parent(int32_t node) const { return parent_[node]; }
  int32_t leaf(int32_t label) const { return leaf_[label]; }

 private:
  LabelTreeView tree_;
  std::vector<int32_t> first_, n_columns_, block_of_, parent_, leaf_;
};

// An example at a block: its positive nodes there are those from node_begin to node_end of `ExampleBatch`.
struct BlockExample {
  int32_t row;  // within the batch
  int32_t block;
  int32_t node_begin, node_end;
  float share;  // of the example's labels that are below the parent
};

// The words of examples.
struct WordEntries {
  explicit WordEntries(int64_t n_words) : by_word(n_words) {}

  std::vector<int64_t> row_begin;
  std::vector<int32_t> word;
  std::vector<float> value;
  EntriesByItem by_word;
  std::vector<float> value_by_word;
};

// Examples at single nodes of narrow blocks.
struct NodeEntries {
  explicit NodeEntries(int64_t n_nodes) : by_node(n_nodes) {}

  std::vector<int64_t> row_begin;
  std::vector<int32_t> node;
  std::vector<float> weight;  // of the example there
  std::vector<float> target;  // the weight times the probability that is to be learned
  EntriesByItem by_node;
};

// Blocks with at most this number of columns are narrow. Their nodes are learned one by one, like words:
// products of such small matrices would not pay.
constexpr int32_t kNarrow = 2;

class ExampleBatch {
 public:
  // `trains_root`: whether some examples have no labels, so that the root's own classifier has to learn.
  // `mean`: divide the values of a row by their sum. `softmax`: the children of a node exclude each other, so
  // that of two the first one's vector is enough. `narrow`: take narrow blocks apart, see NodeEntries.
  ExampleBatch(const TreeBlocks& blocks, int64_t n_features, bool trains_root, bool mean, bool softmax,
               bool narrow);

  // Reads these rows. Rows count from 0 here.
  void read(const Examples& examples, const int64_t* rows, int n_rows);

  int n_rows() const { return n_rows_; }
  const WordEntries& words() const { return words_; }
  const NodeEntries& narrow() const { return narrow_; }
  // By row; the blocks of a row ascend.
  const std::vector<BlockExample>& block_examples() const { return block_examples_; }
  const std::vector<int64_t>& block_begin() const { return block_begin_; }
  int32_t node(int64_t i) const { return nodes_[i].node; }
  // The share of the example's labels that are below the node.
  float share(int64_t i) const { return nodes_[i].share; }
  float weight(int row) const { return weight_[row]; }
  // Lets the examples train some more blocks, per row, in which all nodes are negative.
  void add_negatives(const std::vector<std::vector<int32_t>>& blocks);

 private:
  struct PositiveNode {
    int32_t node;
    float share;
  };

  void read_words(const Examples& examples, int64_t row);
  void read_labels(const Examples& examples, int64_t row, int32_t at);
  void add_narrow(const Examples& examples, int64_t row, const BlockExample& example);
  const TreeBlocks* blocks_;
  bool trains_root_, mean_, softmax_, takes_narrow_;
  int n_rows_ = 0;
  FeatureRow features_;
  WordEntries words_;
  NodeEntries narrow_;
  std::vector<PositiveNode> nodes_;
  std::vector<BlockExample> block_examples_;
  std::vector<int64_t> block_begin_;
  std::vector<float> weight_;
  std::vector<int32_t> mark_;  // per node: where it is among those of the row, -1 if it is not
};

}  // namespace labeltree
