#include "training/held_out_nodes.h"

#include <algorithm>

#include "core/append.h"
#include "core/parallel_for.h"
#include "core/path_walker.h"
#include "core/random.h"

namespace labeltree {

namespace {

constexpr int64_t kHeldOutRowsPerTask = 256;  // each has arrays of all nodes

}  // namespace

HeldOutNodes held_out_nodes(const BlockStore& store, const Examples& examples, bool normalize_siblings,
                            double negative_share, uint64_t seed, int n_threads) {
  const LabelTreeView& tree = store.tree();
  const std::vector<int32_t> parent = parents(tree), leaf = leaves_of_labels(tree);
  std::vector<HeldOutNodes> parts((examples.n_rows() + kHeldOutRowsPerTask - 1) / kHeldOutRowsPerTask);

  parallel_ranges(n_threads, examples.n_rows(), kHeldOutRowsPerTask, [&](int64_t begin, int64_t end, int) {
    HeldOutNodes& part = parts[begin / kHeldOutRowsPerTask];
    PathWalker walker(tree, leaf, parent, nullptr);
    FeatureRow query;
    std::vector<int32_t> visited;
    std::vector<uint8_t> positive(tree.n_nodes, 0);
    std::vector<float> score, probability;
    for (int64_t row = begin; row < end; ++row) {
      visited.clear();
      walker.walk(examples.labels, static_cast<int32_t>(row), [&](int32_t v, int32_t) {
        visited.push_back(v);
        positive[v] = 1;
      });
      query.clear();
      examples.features.append(row, query);
      const uint64_t row_seed = mix_seed(seed, static_cast<uint64_t>(row));
      const auto ask = [&](int32_t block) {
        const int32_t n = store.n_columns(block);
        score.resize(n);
        probability.resize(n);
        store.node_scores(block, query, score.data());
        store.probabilities(block, query, normalize_siblings, probability.data());
        for (int32_t c = 0; c < n; ++c) {
          const int32_t v = store.first_node(block) + c;
          const double drawn = unit_number(mix_seed(row_seed, static_cast<uint64_t>(v)));
          if (!positive[v] && drawn >= negative_share) continue;
          part.node.push_back(v);
          part.score.push_back(score[c]);
          part.probability.push_back(probability[c]);
          part.positive.push_back(positive[v]);
        }
      };
      ask(0);
      for (const int32_t v : visited) {
        if (!tree.is_leaf(v)) ask(store.block_of(v));
      }
      for (const int32_t v : visited) positive[v] = 0;
    }
  });

  HeldOutNodes all;
  for (HeldOutNodes& part : parts) {
    append(all.node, part.node);
    append(all.score, part.score);
    append(all.probability, part.probability);
    append(all.positive, part.positive);
    part = {};
  }
  return all;
}

}  // namespace labeltree
