#include "training/block_groups.h"

#include "training/block_costs.h"
#include "training/sibling_blocks.h"

namespace labeltree {

BlockGroups block_groups(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
                         const Progress& progress) {
  std::vector<int32_t> all_rows;
  const std::vector<SiblingBlock> blocks =
      sibling_blocks(tree, assignment, examples.n_rows(), all_blocks(tree), all_rows);
  std::vector<int32_t> level(tree.n_nodes, 0);
  const std::vector<int32_t> parent = parents(tree);
  for (int32_t v = 1; v < tree.n_nodes; ++v) level[v] = level[parent[v]] + 1;

  BlockGroups found;
  int64_t n_entries = 0;
  for (const ColumnGroup& group : column_groups(blocks)) {
    const SiblingBlock& block = blocks[group.block];
    if (group.begin == 0) {
      progress.check();
      n_entries = count_entries(examples.features, block.rows, block.n_rows);
    }
    found.block.push_back(group.block);
    found.begin.push_back(group.begin);
    found.end.push_back(group.end);
    found.level.push_back(level[block.first_node]);
    found.n_rows.push_back(block.n_rows);
    found.n_entries.push_back(n_entries);
  }
  return found;
}

}  // namespace labeltree
