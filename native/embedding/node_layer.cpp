#include "embedding/node_layer.h"

#include <algorithm>

namespace labeltree {

NodeLayer::NodeLayer(const TreeBlocks& blocks, const VectorOptions& options)
    : blocks_(blocks),
      options_(options),
      table_(blocks.tree().n_nodes, options.dimension + 1, options.rule),
      tiles_(blocks, options.loss == NodeLoss::softmax) {}

void NodeLayer::prepare(const ExampleBatch& batch, int n_threads) {
  tiles_.arrange(batch);
  slots_.reserve(tiles_.n_slots() * table_.stride());
  if (options_.loss == NodeLoss::softmax) scores_.resize(tiles_.n_scores());
  narrow_.resize(batch.narrow().node.size());
  scratch_.resize(n_threads);
}

void NodeLayer::score(const ExampleBatch& batch, const BlockTile& tile, const HiddenRows& hidden,
                      ScoreTile scores, Scratch& scratch) const {
  scratch.vectors.resize(tile.n_examples);
  scratch.score_rows.resize(tile.n_examples);
  for (int64_t i = 0; i < tile.n_examples; ++i) {
    scratch.vectors[i] = hidden.vector(batch.block_examples()[tile.examples[i]].row);
    scratch.score_rows[i] = scores.data + i * scores.step;
    std::fill_n(scratch.score_rows[i], tile.n_columns(), 0.0f);
  }
  const int32_t first = blocks_.first_node(tile.block) + tile.column_begin;
  vector_kernels().dot(scratch.vectors.data(), static_cast<int>(tile.n_examples),
                       table_.matrix(first, tile.n_columns()), scratch.score_rows.data());
}

void NodeLayer::learn_logistic(const ExampleBatch& batch, const BlockTile& tile, const HiddenRows& hidden,
                               float rate, Scratch& scratch) {
  scratch.scores.resize(tile.n_examples * tile.n_columns());
  const ScoreTile scores{scratch.scores.data(), tile.n_columns()};
  score(batch, tile, hidden, scores, scratch);
  const int32_t first = blocks_.first_node(tile.block) + tile.column_begin;
  for (int64_t i = 0; i < tile.n_examples; ++i) {
    const BlockExample& example = batch.block_examples()[tile.examples[i]];
    const float weight = batch.weight(example.row);
    float* gradient = scores.data + i * scores.step;
    vector_kernels().apply_logistic(gradient, tile.n_columns(), weight);
    for (int32_t k = example.node_begin; k < example.node_end; ++k) {
      const int32_t column = batch.node(k) - first;
      if (column >= 0 && column < tile.n_columns()) gradient[column] -= weight;
    }
  }
  step(batch, tile, hidden, scores, rate, scratch);
}

void NodeLayer::apply_softmax(const ExampleBatch& batch, int64_t at) {
  const BlockExample& example = batch.block_examples()[at];
  const int32_t first = blocks_.first_node(example.block), n = blocks_.n_columns(example.block);
  const int32_t n_learning = tiles_.n_learning(example.block);
  const float weight = batch.weight(example.row);
  float* gradient = scores_.data() + tiles_.score_of(at);
  if (n_learning < n || example.block == 0) {  // of two children, or the root: the logistic function
    vector_kernels().apply_logistic(gradient, n_learning, weight * example.share);
  } else {
    const float sum = vector_kernels().apply_exponential(gradient, n);
    const float scale = weight * example.share / sum;
    for (int32_t c = 0; c < n; ++c) gradient[c] *= scale;
  }
  for (int32_t k = example.node_begin; k < example.node_end; ++k) {
    const int32_t column = batch.node(k) - first;
    if (column < n_learning) gradient[column] -= weight * batch.share(k);
  }
}

void NodeLayer::step(const ExampleBatch& batch, const BlockTile& tile, const HiddenRows& hidden,
                     ScoreTile gradients, float rate, Scratch& scratch) {
  const int32_t first = blocks_.first_node(tile.block) + tile.column_begin;
  const int64_t n_columns = tile.n_columns(), stride = table_.stride();
  // By the hidden vectors,
  scratch.vectors.resize(n_columns);
  for (int64_t c = 0; c < n_columns; ++c) scratch.vectors[c] = table_.vector(first + c);
  vector_kernels().mix({scratch.vectors.data(), n_columns, gradients.data, gradients.step, 1,
                        slots_.data() + tile.slot * stride, tile.n_examples, stride});
  // and by the vectors of the nodes.
  scratch.vectors.resize(tile.n_examples);
  for (int64_t i = 0; i < tile.n_examples; ++i) {
    scratch.vectors[i] = hidden.vector(batch.block_examples()[tile.examples[i]].row);
  }
  scratch.gradients.reserve(n_columns * stride);
  vector_kernels().mix({scratch.vectors.data(), tile.n_examples, gradients.data, 1, gradients.step,
                        scratch.gradients.data(), n_columns, stride});
  for (int64_t c = 0; c < n_columns; ++c) {
    table_.step(first + c, scratch.gradients.data() + c * stride, rate, tile.n_examples);
  }
}

void NodeLayer::score_narrow(const ExampleBatch& batch, int row, HiddenRows& hidden) {
  const NodeEntries& entries = batch.narrow();
  const int64_t begin = entries.row_begin[row], n = entries.row_begin[row + 1] - begin;
  const int32_t* nodes = entries.node.data() + begin;
  float* gradient = narrow_.data() + begin;
  const VectorMatrix vectors = table_.matrix(0, table_.n_vectors());
  vector_kernels().dot_each(hidden.vector(row), vectors, nodes, n, gradient);
  vector_kernels().apply_logistic(gradient, n, 1.0f);
  for (int64_t k = 0; k < n; ++k) {
    gradient[k] = gradient[k] * entries.weight[begin + k] - entries.target[begin + k];
  }
  vector_kernels().sum(vectors, nodes, gradient, n, hidden.gradient(row));
}

void NodeLayer::step_narrow(const ExampleBatch& batch, int64_t i, const HiddenRows& hidden, float rate,
                            Scratch& scratch) {
  const EntriesByItem& entries = batch.narrow().by_node;
  const int64_t begin = entries.begin(i), n = entries.size(i);
  scratch.values.resize(n);
  for (int64_t k = 0; k < n; ++k) scratch.values[k] = narrow_[entries.entries()[begin + k]];
  scratch.gradients.reserve(table_.stride());
  const VectorMatrix rows{VectorType::float32, hidden.vector(0), nullptr,
                          batch.n_rows(),      hidden.stride(),  hidden.stride()};
  vector_kernels().sum(rows, entries.rows() + begin, scratch.values.data(), n, scratch.gradients.data());
  table_.step(entries.item(i), scratch.gradients.data(), rate, n);
}

void NodeLayer::add_up_gradient(const ExampleBatch& batch, int row, HiddenRows& hidden) const {
  float* gradient = hidden.gradient(row);
  const int64_t stride = table_.stride();
  for (int64_t i = batch.block_begin()[row]; i < batch.block_begin()[row + 1]; ++i) {
    tiles_.visit_slots(i, [&](int64_t slot) {
      const float* part = slots_.data() + slot * stride;
      for (int64_t d = 0; d < stride; ++d) gradient[d] += part[d];
    });
  }
}

void NodeLayer::find_hard_negatives(const ExampleBatch& batch, int row, const HiddenRows& hidden,
                                    std::vector<int32_t>& blocks) const {
  struct Candidate {
    float probability;
    int32_t node;
    bool operator<(const Candidate& other) const {
      return probability != other.probability ? probability < other.probability : node > other.node;
    }
  };
  const LabelTreeView& tree = blocks_.tree();
  const float* h = hidden.vector(row);
  std::vector<Candidate> candidates;  // a heap
  std::vector<float> p;
  const auto score_block = [&](int32_t block) {
    p.assign(blocks_.n_columns(block), 0.0f);
    float* scores = p.data();
    vector_kernels().dot(&h, 1, table_.matrix(blocks_.first_node(block), blocks_.n_columns(block)), &scores);
    vector_kernels().apply_logistic(scores, blocks_.n_columns(block), 1.0f);
  };
  const auto add_children = [&](int32_t block, float parent) {
    const int32_t first = blocks_.first_node(block);
    for (size_t c = 0; c < p.size(); ++c) {
      const int32_t node = first + static_cast<int32_t>(c);
      if (p[c] < 0 || tree.is_leaf(node)) continue;
      candidates.push_back({parent * p[c], node});
      std::push_heap(candidates.begin(), candidates.end());
    }
  };
  // Where a label is below, the search is right to go: the probability of that is taken as 1.
  for (int64_t i = batch.block_begin()[row]; i < batch.block_begin()[row + 1]; ++i) {
    const BlockExample& example = batch.block_examples()[i];
    if (example.block == 0) continue;
    score_block(example.block);
    for (int32_t k = example.node_begin; k < example.node_end; ++k) {
      p[batch.node(k) - blocks_.first_node(example.block)] = -1;
    }
    add_children(example.block, 1.0f);
  }
  blocks.clear();
  while (static_cast<int>(blocks.size()) < options_.hard_negatives && !candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end());
    const Candidate best = candidates.back();
    candidates.pop_back();
    blocks.push_back(blocks_.block_of(best.node));
    score_block(blocks.back());
    add_children(blocks.back(), best.probability);
  }
}

}  // namespace labeltree
