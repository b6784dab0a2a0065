#include "training/sibling_blocks.h"

#include <algorithm>
#include <numeric>

#include "lanes/kernels.h"
#include "model/block_arrays.h"

namespace labeltree {

namespace {

SiblingBlock make_block(const NodeRows& assignment, int32_t first_node, int32_t n_nodes, const int32_t* rows,
                        int64_t n_rows, bool learns_constants) {
  SiblingBlock block{first_node, n_nodes, {}, rows, n_rows};
  for (int32_t c = 0; c < n_nodes; ++c) {
    if (needs_learning(assignment.n_rows(first_node + c), n_rows, learns_constants))
      block.columns.push_back(c);
  }
  // Columns of similar frequency need a similar number of passes: keep them in one group.
  std::stable_sort(block.columns.begin(), block.columns.end(), [&](int32_t a, int32_t b) {
    return assignment.n_rows(first_node + a) > assignment.n_rows(first_node + b);
  });
  return block;
}

}  // namespace

float constant_score(int64_t n_positive) { return n_positive > 0 ? kCertainScore : -kCertainScore; }

BlockRange all_blocks(const LabelTreeView& tree) {
  int64_t n_inner = 0;
  for (int32_t v = 0; v < tree.n_nodes; ++v) n_inner += !tree.is_leaf(v);
  return {0, n_inner + 1};
}

std::vector<SiblingBlock> sibling_blocks(const LabelTreeView& tree, const NodeRows& assignment,
                                         int64_t n_rows, const BlockRange& range,
                                         std::vector<int32_t>& all_rows, bool learns_constants) {
  std::vector<SiblingBlock> blocks;
  blocks.reserve(range.size());
  if (range.first == 0 && range.last > 0) {
    all_rows.resize(n_rows);
    std::iota(all_rows.begin(), all_rows.end(), 0);
    blocks.push_back(make_block(assignment, 0, 1, all_rows.data(), n_rows, learns_constants));
  }
  int64_t number = 1;
  for (int32_t v = 0; v < tree.n_nodes && number < range.last; ++v) {
    if (tree.is_leaf(v) || number++ < range.first) continue;
    blocks.push_back(make_block(assignment, tree.child_begin[v], tree.n_children(v), assignment.begin(v),
                                assignment.n_rows(v), learns_constants));
  }
  return blocks;
}

std::vector<ColumnGroup> column_groups(const std::vector<SiblingBlock>& blocks) {
  std::vector<ColumnGroup> groups;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const auto n = static_cast<int32_t>(blocks[b].columns.size());
    for (int32_t begin = 0; begin < n; begin += kMaxLanes) {
      groups.push_back({static_cast<int32_t>(b), begin, std::min(n, begin + kMaxLanes)});
    }
  }
  return groups;
}

std::vector<size_t> largest_first(const std::vector<ColumnGroup>& groups,
                                  const std::vector<SiblingBlock>& blocks) {
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return blocks[groups[a].block].n_rows > blocks[groups[b].block].n_rows;
  });
  return order;
}

}  // namespace labeltree
