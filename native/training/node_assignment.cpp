#include "training/node_assignment.h"

#include <algorithm>
#include <utility>

#include "core/parallel_for.h"
#include "core/path_walker.h"

namespace labeltree {

namespace {

constexpr int64_t kMostParts = 8;
constexpr int32_t kRowsPerCheck = 1 << 16;

}  // namespace

NodeAssignment assign_to_nodes(const LabelTreeView& tree, const LabelMatrixView& labels,
                               const float* label_weight, int n_threads, const Progress& progress) {
  const std::vector<int32_t> parent = parents(tree), leaf = leaves_of_labels(tree);
  // Each part is a range of rows; parts are few, since each needs a counter per node. Rows stay in order
  // within and between parts, so the lists do not depend on the number of parts.
  const int64_t most_parts = std::clamp<int64_t>(labels.n_rows, 1, kMostParts);
  const int n_parts = static_cast<int>(std::clamp<int64_t>(n_threads, 1, most_parts));
  const auto part_begin = [&](int part) { return static_cast<int32_t>(labels.n_rows * part / n_parts); };

  // Counted from the first row of the node: half as long as places in the list would be.
  std::vector<std::vector<int32_t>> next(n_parts);
  parallel_for(n_threads, n_parts, [&](int64_t part, int) {
    std::vector<int32_t>& count = next[part];
    count.assign(tree.n_nodes, 0);
    PathWalker walker(tree, leaf, parent, nullptr);
    for (int32_t row = part_begin(part); row < part_begin(part + 1); ++row) {
      if (row % kRowsPerCheck == 0) progress.check();
      walker.walk(labels, row, [&](int32_t v, int32_t) { ++count[v]; });
    }
  });

  NodeAssignment assignment;
  assignment.row_begin.resize(tree.n_nodes + 1);
  int64_t total = 0;
  for (int32_t v = 0; v < tree.n_nodes; ++v) {
    assignment.row_begin[v] = total;
    int32_t of_node = 0;
    for (int part = 0; part < n_parts; ++part) of_node += std::exchange(next[part][v], of_node);
    total += of_node;
  }
  assignment.row_begin[tree.n_nodes] = total;
  assignment.rows.resize(total);
  if (label_weight != nullptr) assignment.weight.resize(total);

  parallel_for(n_threads, n_parts, [&](int64_t part, int) {
    std::vector<int32_t>& place = next[part];
    PathWalker walker(tree, leaf, parent, label_weight);
    for (int32_t row = part_begin(part); row < part_begin(part + 1); ++row) {
      if (row % kRowsPerCheck == 0) progress.check();
      walker.walk(labels, row, [&](int32_t v, int32_t heaviest) {
        const int64_t at = assignment.row_begin[v] + place[v]++;
        if (label_weight != nullptr) assignment.weight[at] = label_weight[heaviest];
        assignment.rows[at] = row;
      });
    }
  });
  return assignment;
}

}  // namespace labeltree
