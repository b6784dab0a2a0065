#include "embedding/example_batch.h"

#include <algorithm>

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

ExampleBatch::ExampleBatch(const TreeBlocks& blocks, int64_t n_features, bool trains_root, bool mean)
    : blocks_(&blocks),
      trains_root_(trains_root),
      mean_(mean),
      place_(n_features, -1),
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
  for (int at = 0; at < n_rows; ++at) {
    read_words(examples, rows[at]);
    read_labels(examples, rows[at], at);
    weight_.push_back(examples.weight(rows[at]));
  }
  sort_by_word();
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
    block_examples_.push_back({at, blocks_->block_of(node), begin_of_block, i, nodes_[parent].share});
  }
  block_begin_.push_back(static_cast<int64_t>(block_examples_.size()));
}

void ExampleBatch::sort_by_word() {
  WordEntries& w = words_;
  w.words.clear();
  w.word_begin.assign(1, 0);
  for (const int32_t word : w.word) {
    if (place_[word] < 0) {
      place_[word] = static_cast<int32_t>(w.words.size());
      w.words.push_back(word);
      w.word_begin.push_back(0);
    }
    ++w.word_begin[place_[word] + 1];
  }
  for (size_t i = 1; i < w.word_begin.size(); ++i) w.word_begin[i] += w.word_begin[i - 1];
  w.row.resize(w.word.size());
  w.row_value.resize(w.word.size());
  for (int32_t row = 0; row < n_rows_; ++row) {
    for (int64_t k = w.row_begin[row]; k < w.row_begin[row + 1]; ++k) {
      const int64_t at = w.word_begin[place_[w.word[k]]]++;
      w.row[at] = row;
      w.row_value[at] = w.value[k];
    }
  }
  for (size_t i = w.word_begin.size() - 1; i > 0; --i) w.word_begin[i] = w.word_begin[i - 1];
  w.word_begin[0] = 0;
  for (const int32_t word : w.words) place_[word] = -1;
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
