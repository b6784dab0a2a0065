#include "training/held_out_loss.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "core/parallel_for.h"
#include "core/path_walker.h"

namespace labeltree {

namespace {

constexpr float kLeastProbability = 0.001f;
constexpr int64_t kRowsPerTask = 256;  // each has arrays of all nodes

}  // namespace

void held_out_loss(const BlockStore& store, const Examples& examples, int n_levels, int n_threads,
                   double* loss) {
  const float* label_weight = examples.label_weight;
  const LabelTreeView& tree = store.tree();
  const std::vector<int32_t> parent = parents(tree), leaf = leaves_of_labels(tree);
  std::vector<int32_t> level(tree.n_nodes, 0);
  for (int32_t v = 1; v < tree.n_nodes; ++v) level[v] = level[parent[v]] + 1;
  if (level.back() >= n_levels) throw std::invalid_argument("loss: one column per level of the tree");

  parallel_ranges(n_threads, examples.n_rows(), kRowsPerTask, [&](int64_t begin, int64_t end, int) {
    PathWalker walker(tree, leaf, parent, label_weight);
    FeatureRow query;
    std::vector<int32_t> visited;
    std::vector<float> weight(tree.n_nodes, -1.0f), probability;  // a weight below 0: the node is negative
    for (int64_t row = begin; row < end; ++row) {
      visited.clear();
      walker.walk(examples.labels, static_cast<int32_t>(row), [&](int32_t v, int32_t heaviest) {
        visited.push_back(v);
        weight[v] = label_weight ? label_weight[heaviest] : 1.0f;
      });
      query.clear();
      examples.features.append(row, query);
      double* lost = loss + row * n_levels;
      std::fill_n(lost, n_levels, 0.0);
      const auto ask = [&](int32_t block) {
        probability.resize(store.n_columns(block));
        store.probabilities(block, query, false, probability.data());
        for (int32_t c = 0; c < store.n_columns(block); ++c) {
          const int32_t v = store.first_node(block) + c;
          const float p = std::clamp(probability[c], kLeastProbability, 1 - kLeastProbability);
          lost[level[v]] -= weight[v] >= 0 ? weight[v] * std::log(p) : std::log1p(-p);
        }
      };
      ask(0);
      for (const int32_t v : visited) {
        if (!tree.is_leaf(v)) ask(store.block_of(v));
      }
      for (const int32_t v : visited) weight[v] = -1;
    }
  });
}

}  // namespace labeltree
