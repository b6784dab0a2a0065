// A trained tree ready to be asked: read-only, re-entrant, over arrays that may be a mapped file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/feature_matrix.h"
#include "core/label_tree.h"
#include "core/span.h"
#include "model/block_arrays.h"
#include "model/corrupt_model.h"
#include "model/feature_index.h"
#include "model/level_maps.h"
#include "model/link.h"
#include "model/weight_decoding.h"

namespace labeltree {

// BlockArrays as views, columns in 8, 16 or 32 bits, weights as float32, bfloat16 or int8 (times a scale per
// node).
struct BlockViews {
  LabelTreeView tree;
  int64_t n_features;
  Span<int64_t> block_entry_begin;
  // Either these three as in BlockArrays, or the features of block b packed in
  // index[index_begin[b] .. index_begin[b + 1]): see model/packed_index.h.
  Span<int64_t> block_begin;
  Span<int32_t> feature;
  Span<uint32_t> entry_begin;
  Span<int64_t> index_begin;
  Span<uint8_t> index;
  std::variant<Span<uint8_t>, Span<uint16_t>, Span<uint32_t>> column;
  std::variant<Span<float>, Span<uint16_t>, Span<int8_t>> weight;
  Span<float> bias;
  Span<float> scale;  // with int8 weights only
  FeatureRange dense;
  std::variant<Span<float>, Span<uint16_t>, Span<int8_t>> dense_weight;
  Span<float> dense_scale;  // per column of a panel, with int8 only
  // In place of dense_weight: the weights of each node after another. A scale per node with int8 only.
  std::variant<Span<float>, Span<uint16_t>, Span<int8_t>> node_vector;
  Span<float> node_scale;
  // Of joint blocks, if there are any; code_scale with int8 weights only.
  Span<int64_t> code_begin;
  Span<uint8_t> code;
  Span<float> code_bias, code_scale;
};

class BlockStore {
 public:
  // What searches need of it: see search/tree_search.h and search/forest.h.
  using Query = FeatureRow;
  static constexpr int64_t kRowsPerTask = 64;
  static constexpr bool kSharesBlocks = true;

  // The tree has been checked. Checks everything but the insides of blocks; throws CorruptModel. `maps`, if
  // there are any, take the place of the link.
  // `fused`: products of dense features may be rounded once where the processor can. That is faster, but
  // scores then differ in the last digits between processors.
  BlockStore(const BlockViews& views, Link link, LevelMaps maps = {}, bool fused = true);
  ~BlockStore();
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;

  const LabelTreeView& tree() const { return views_.tree; }
  int64_t n_features() const { return views_.n_features; }
  const FeatureRange& dense() const { return views_.dense; }
  int32_t n_blocks() const { return static_cast<int32_t>(inner_.size()) + 1; }
  int32_t block_of(int32_t node) const { return block_of_[node]; }
  int32_t leaf_of(int32_t label) const { return leaf_[label]; }
  int32_t parent(int32_t node) const { return parent_[node]; }
  void read(const FeatureMatrix& features, int64_t row, Query& query) const {
    query.clear();
    features.append(row, query);
  }
  // The nodes that a block is about: unless it is joint, they are its columns.
  int32_t first_node(int32_t block) const {
    return block == 0 ? 0 : views_.tree.child_begin[inner_[block - 1]];
  }
  int32_t n_columns(int32_t block) const {
    return block == 0 ? 1 : views_.tree.n_children(inner_[block - 1]);
  }

  // In a joint block the columns are codes.
  int32_t n_codes(int32_t block) const {
    return is_joint() ? static_cast<int32_t>(views_.code_begin[block + 1] - views_.code_begin[block]) : 0;
  }
  bool is_joint() const { return views_.code_begin.size > 0; }
  int32_t n_scores(int32_t block) const {
    const int32_t n = n_codes(block);
    return n > 0 ? n : n_columns(block);
  }

  // The scores of all columns of a block, or the probabilities of its nodes given the parent's. With
  // normalize_siblings probabilities that sum to less than 1 are scaled to sum to 1 (the paper's
  // normalisation step). A block's insides are checked the first time it is used: a model opens in
  // milliseconds, and blocks that no query needs are never read.
  void scores(int32_t block, const RowView& query, float* out) const;
  // One for each of its nodes: in a joint block, where columns are none, and with softmax their log-odds.
  void node_scores(int32_t block, const RowView& query, float* out) const;
  void probabilities(int32_t block, const RowView& query, bool normalize_siblings, float* out) const;

  // The same for several queries, to the last bit. Dense weights are read once for all of them.
  void probabilities(int32_t block, const std::vector<const FeatureRow*>& queries, bool normalize_siblings,
                     const std::vector<float*>& out) const;

  // A child of a node.
  struct Child {
    int32_t column;
    float probability;
  };
  // The children that may have a probability p with parent * p >= least, in order; returns how many. With
  // maps that are lines between knots, the others are not mapped. `scores` and `out` have room for all
  // children.
  int32_t probable(int32_t block, const RowView& query, bool normalize_siblings, float parent, float least,
                   float* scores, Child* out) const;

  // Calls visit(feature, weight) for every stored weight of one column.
  template <class Visit>
  void visit_column(int32_t block, int32_t column, const Visit& visit) const;

  // Checks the insides of all blocks; throws CorruptModel.
  void verify() const;

 private:
  // The n features of a block, ascending: the f-th has the entries [entry_begin[f], entry_begin[f + 1]).
  struct BlockFeatures {
    const int32_t* feature;
    const uint32_t* entry_begin;
    int64_t n;
    std::vector<int32_t> unpacked_feature;
    std::vector<uint32_t> unpacked_begin;
  };
  // What finds the entries of a feature.
  struct BlockIndex {
    FeatureIndex features;
    const uint32_t* entry_begin;
    std::vector<uint32_t> unpacked_begin;
  };

  void check_codes() const;
  void check_dense();
  void check_maps();
  bool is_packed() const { return views_.index_begin.size > 0; }
  BlockFeatures features_of(int32_t block) const;
  // Throws CorruptModel unless the inside of the block is sound.
  BlockFeatures verified_features(int32_t block) const;
  void check_node_vectors() const;
  void add_dense(int32_t block, const float* const* rows, int n_rows, float* const* scores) const;
  // The same by the vectors of nodes.
  void add_node_products(int32_t block, const float* const* rows, int n_rows, float* const* scores) const;
  bool has_node_vectors() const {
    return std::visit([](const auto& vectors) { return vectors.size > 0; }, views_.node_vector);
  }
  // The scores without the dense features.
  void score_sparse(int32_t block, const RowView& query, float* out) const;
  void apply_links(int32_t block, bool normalize_siblings, float* out) const;
  bool is_softmax(int32_t block) const { return link_ == Link::softmax && block > 0; }
  bool is_mirrored(int32_t block) const { return is_softmax(block) && n_columns(block) == 2; }
  int64_t n_dense() const { return views_.dense.size(); }
  float dense_weight(int32_t block, int32_t column, int64_t d) const;
  // The panels from a column of the block on, which is the first of a panel.
  PanelWeights panels(int32_t block, int64_t column) const;
  // What the scores of the block's columns start from, and what their weights are multiplied with, or null.
  const float* biases(int32_t block) const {
    return n_codes(block) > 0 ? views_.code_bias.data + views_.code_begin[block]
                              : views_.bias.data + first_node(block);
  }
  const float* scales(int32_t block) const {
    if (views_.scale.size == 0) return nullptr;
    return n_codes(block) > 0 ? views_.code_scale.data + views_.code_begin[block]
                              : views_.scale.data + first_node(block);
  }
  // The probabilities of the children of a joint block, from the scores of its codes.
  void score_jointly(int32_t block, const RowView& query, float* out) const;
  // The index of a block, which is checked and indexed when first used.
  const BlockIndex& index(int32_t block) const {
    const BlockIndex* index = index_[block].load(std::memory_order_acquire);
    return index != nullptr ? *index : make_index(block);
  }
  const BlockIndex& make_index(int32_t block) const;

  BlockViews views_;
  Link link_;
  LevelMaps maps_;
  bool fused_;
  std::vector<int32_t> level_;  // per block, of its nodes; only with maps
  std::vector<int32_t> inner_, block_of_, leaf_, parent_;
  std::vector<int64_t> first_panel_;  // per block; only with dense features
  std::unique_ptr<std::atomic<const BlockIndex*>[]> index_;
};

template <class Visit>
void BlockStore::visit_column(int32_t block, int32_t column, const Visit& visit) const {
  index(block);  // checks the block
  const BlockFeatures features = features_of(block);
  const float sign = column == 1 && is_mirrored(block) ? -1.0f : 1.0f;
  if (sign < 0) column = 0;
  const float scale = sign * (scales(block) != nullptr ? scales(block)[column] : 1.0f);
  std::visit(
      [&](const auto& columns, const auto& weights) {
        const int64_t entries = views_.block_entry_begin[block];
        for (int64_t f = 0; f < features.n; ++f) {
          for (int64_t e = features.entry_begin[f]; e < features.entry_begin[f + 1]; ++e) {
            if (static_cast<int32_t>(columns[entries + e]) != column) continue;
            visit(features.feature[f], scale * decode_weight(weights[entries + e]));
          }
        }
      },
      views_.column, views_.weight);
  for (int64_t d = 0; d < n_dense(); ++d) {
    const float weight = sign * dense_weight(block, column, d);
    if (weight != 0) visit(static_cast<int32_t>(views_.dense.begin + d), weight);
  }
}

}  // namespace labeltree
