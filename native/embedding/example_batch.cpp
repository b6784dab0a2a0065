#include "embedding/example_batch.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "embedding/hidden_transform.h"
#include "model/block_arrays.h"

namespace labeltree {

TreeBlocks::TreeBlocks(const LabelTreeView& tree)
    : tree_(tree), block_of_(tree.n_nodes, -1), parent_(parents(tree)), leaf_(leaves_of_labels(tree)) {
  first_.push_back(0);
  n_columns_.push_back(1);
  for (const int32_t v : inner_nodes(tree)) {
    block_of_[v] = n_blocks();
    first_.push_back(tree.child_begin[v]);
    n_columns_.push_back(tree.n_children(v));
  }
}

ExampleBatch::ExampleBatch(const TreeBlocks& blocks, int64_t n_features, bool trains_root, bool mean,
                           bool softmax, bool narrow)
    : blocks_(&blocks),
      trains_root_(trains_root),
      mean_(mean),
      softmax_(softmax),
      takes_narrow_(narrow),
      words_(n_features),
      narrow_(narrow ? blocks.tree().n_nodes : 0),
      mark_(blocks.tree().n_nodes, -1) {}

void ExampleBatch::read(const Examples& examples, const int64_t* rows, int n_rows) {
  n_rows_ = n_rows;
  words_.row_begin.assign(1, 0);
  words_.word.clear();
  words_.value.clear();
  nodes_.clear();
  block_examples_.clear();
  block_begin_.assign(1, 0);
  weight_.clear();
  narrow_.row_begin.assign(1, 0);
  narrow_.node.clear();
  narrow_.weight.clear();
  narrow_.target.clear();
  for (int at = 0; at < n_rows; ++at) {
    read_words(examples, rows[at]);
    read_labels(examples, rows[at], at);
    weight_.push_back(examples.weight(rows[at]));
    narrow_.row_begin.push_back(static_cast<int64_t>(narrow_.node.size()));
  }
  // Entries and nodes are counted in 32 bits.
  if (std::max(words_.word.size(), nodes_.size()) > INT32_MAX) {
    throw std::invalid_argument(
        "the rows of a batch have more than 2,147,483,647 features: lower batch_size");
  }
  words_.by_word.sort(words_.row_begin, words_.word);
  words_.value_by_word.resize(words_.value.size());
  for (size_t k = 0; k < words_.value.size(); ++k) {
    words_.value_by_word[k] = words_.value[words_.by_word.entries()[k]];
  }
  narrow_.by_node.sort(narrow_.row_begin, narrow_.node);
}

void ExampleBatch::read_words(const Examples& examples, int64_t row) {
  features_.clear();
  examples.features.append_entries(row, features_);
  if (mean_) divide_by_sum(features_.value.data(), features_.value.size());
  words_.word.insert(words_.word.end(), features_.index.begin(), features_.index.end());
  words_.value.insert(words_.value.end(), features_.value.begin(), features_.value.end());
  words_.row_begin.push_back(static_cast<int64_t>(words_.word.size()));
}

void ExampleBatch::read_labels(const Examples& examples, int64_t row, int32_t at) {
  const LabelMatrixView& labels = examples.labels;
  const int64_t begin = labels.indptr[row], end = labels.indptr[row + 1];
  const int32_t first = static_cast<int32_t>(nodes_.size());
  const float share = end > begin ? 1.0f / static_cast<float>(end - begin) : 0.0f;
  for (int64_t k = begin; k < end; ++k) {
    for (int32_t v = blocks_->leaf(labels.indices[k]); v >= 0; v = blocks_->parent(v)) {
      if (mark_[v] < 0) {
        mark_[v] = static_cast<int32_t>(nodes_.size());
        nodes_.push_back({v, 0.0f});
      }
      nodes_[mark_[v]].share += share;
    }
  }
  for (size_t i = first; i < nodes_.size(); ++i) mark_[nodes_[i].node] = -1;
  // Nodes are numbered breadth first: sorted, siblings stand together, in the order of their parents.
  std::sort(nodes_.begin() + first, nodes_.end(),
            [](const PositiveNode& a, const PositiveNode& b) { return a.node < b.node; });
  const int32_t last = static_cast<int32_t>(nodes_.size());
  int32_t i = first;
  if (trains_root_) block_examples_.push_back({at, 0, i, last > first ? i + 1 : i, 1.0f});
  if (last > first) ++i;  // the root
  for (int32_t parent = first; i < last; ++parent) {
    const int32_t node = nodes_[parent].node;
    if (blocks_->block_of(node) < 0) continue;
    const int32_t begin_of_block = i;
    while (i < last && blocks_->parent(nodes_[i].node) == node) ++i;
    const BlockExample example{at, blocks_->block_of(node), begin_of_block, i, nodes_[parent].share};
    const bool is_binary = blocks_->n_columns(example.block) <= kNarrow;
    takes_narrow_&& is_binary ? add_narrow(examples, row, example) : block_examples_.push_back(example);
  }
  block_begin_.push_back(static_cast<int64_t>(block_examples_.size()));
}

void ExampleBatch::add_narrow(const Examples& examples, int64_t row, const BlockExample& example) {
  const int32_t first = blocks_->first_node(example.block), n = blocks_->n_columns(example.block);
  // With softmax, one child alone is certain, and the score of the second of two is the negative of the
  // first's.
  const int32_t n_learning = softmax_ ? n - 1 : n;
  const float weight = examples.weight(row), whole = softmax_ ? weight * example.share : weight;
  for (int32_t c = 0; c < n_learning; ++c) {
    float target = 0;
    for (int32_t k = example.node_begin; k < example.node_end; ++k) {
      if (nodes_[k].node == first + c) target = softmax_ ? weight * nodes_[k].share : weight;
    }
    narrow_.node.push_back(first + c);
    narrow_.weight.push_back(whole);
    narrow_.target.push_back(target);
  }
}

void ExampleBatch::add_negatives(const std::vector<std::vector<int32_t>>& blocks) {
  for (int row = 0; row < n_rows_; ++row) {
    for (const int32_t block : blocks[row]) block_examples_.push_back({row, block, 0, 0, 1.0f});
  }
  std::sort(block_examples_.begin(), block_examples_.end(), [](const BlockExample& a, const BlockExample& b) {
    return a.row != b.row ? a.row < b.row : a.block < b.block;
  });
  block_begin_.assign(n_rows_ + 1, 0);
  for (const BlockExample& example : block_examples_) ++block_begin_[example.row + 1];
  for (int row = 0; row < n_rows_; ++row) block_begin_[row + 1] += block_begin_[row];
}

}  // namespace labeltree
