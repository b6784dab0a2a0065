#include "training/block_costs.h"

#include "core/parallel_for.h"
#include "training/group_solver.h"
#include "training/sibling_blocks.h"

namespace labeltree {

int64_t count_entries(const FeatureMatrix& features, const int32_t* rows, int64_t n_rows) {
  int64_t n_entries = n_rows * (features.dense().size() + 1);
  for (int64_t i = 0; i < n_rows; ++i) n_entries += features.row_capacity(rows[i]);
  return n_entries;
}

BlockCosts block_costs(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
                       const SolverOptions& options, const Progress& progress) {
  std::vector<int32_t> all_rows;
  const std::vector<SiblingBlock> blocks = sibling_blocks(
      tree, assignment, examples.n_rows(), all_blocks(tree), all_rows, learns_constants(options));
  BlockCosts costs;
  costs.n_rows.resize(blocks.size());
  costs.n_entries.resize(blocks.size());
  costs.n_columns.resize(blocks.size());
  parallel_for(options.n_threads, static_cast<int64_t>(blocks.size()), [&](int64_t b, int) {
    progress.check();
    const SiblingBlock& block = blocks[b];
    costs.n_rows[b] = block.n_rows;
    costs.n_entries[b] = count_entries(examples.features, block.rows, block.n_rows);
    costs.n_columns[b] = static_cast<int32_t>(block.columns.size());
  });
  return costs;
}

}  // namespace labeltree
