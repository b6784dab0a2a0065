#include "node_assignment.h"

#include <algorithm>
#include <utility>

#include "parallel_for.h"

namespace labeltree {

namespace {

constexpr int64_t kMostParts = 8;
constexpr int32_t kRowsPerCheck = 1 << 16;

// Calls visit(node) once for every node with a label of `row` below it: up from each leaf until a path that
// was walked before. `seen[node]` holds the last row that came by.
template <class Visit>
void walk_up(const LabelMatrixView& labels, int32_t row, const std::vector<int32_t>& leaf,
             const std::vector<int32_t>& parent, std::vector<int32_t>& seen, const Visit& visit) {
  for (int64_t k = labels.indptr[row]; k < labels.indptr[row + 1]; ++k) {
    for (int32_t v = leaf[labels.indices[k]]; v >= 0 && seen[v] != row; v = parent[v]) {
      seen[v] = row;
      visit(v);
    }
  }
}

}  // namespace

NodeAssignment assign_to_nodes(const LabelTreeView& tree, const LabelMatrixView& labels, int n_threads,
                               const Progress& progress) {
  const std::vector<int32_t> parent = parents(tree), leaf = leaves_of_labels(tree);
  // Each part is a range of rows; parts are few, since each needs a counter per node. Rows stay in order
  // within and between parts, so the lists do not depend on the number of parts.
  const int64_t most_parts = std::clamp<int64_t>(labels.n_rows, 1, kMostParts);
  const int n_parts = static_cast<int>(std::clamp<int64_t>(n_threads, 1, most_parts));
  const auto part_begin = [&](int part) { return static_cast<int32_t>(labels.n_rows * part / n_parts); };

  std::vector<std::vector<int64_t>> next(n_parts);
  parallel_for(n_threads, n_parts, [&](int64_t part, int) {
    std::vector<int64_t>& count = next[part];
    count.assign(tree.n_nodes, 0);
    std::vector<int32_t> seen(tree.n_nodes, -1);
    for (int32_t row = part_begin(part); row < part_begin(part + 1); ++row) {
      if (row % kRowsPerCheck == 0) progress.check();
      walk_up(labels, row, leaf, parent, seen, [&](int32_t v) { ++count[v]; });
    }
  });

  NodeAssignment assignment;
  assignment.row_begin.resize(tree.n_nodes + 1);
  int64_t total = 0;
  for (int32_t v = 0; v < tree.n_nodes; ++v) {
    assignment.row_begin[v] = total;
    for (int part = 0; part < n_parts; ++part) total += std::exchange(next[part][v], total);
  }
  assignment.row_begin[tree.n_nodes] = total;
  assignment.rows.resize(total);

  parallel_for(n_threads, n_parts, [&](int64_t part, int) {
    std::vector<int64_t>& at = next[part];
    std::vector<int32_t> seen(tree.n_nodes, -1);
    for (int32_t row = part_begin(part); row < part_begin(part + 1); ++row) {
      if (row % kRowsPerCheck == 0) progress.check();
      walk_up(labels, row, leaf, parent, seen, [&](int32_t v) { assignment.rows[at[v]++] = row; });
    }
  });
  return assignment;
}

}  // namespace labeltree
