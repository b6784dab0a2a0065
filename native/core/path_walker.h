// From the labels of an example up to the root.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/label_matrix.h"
#include "core/label_tree.h"

namespace labeltree {

// Keeps a mark per node, so one per worker.
class PathWalker {
 public:
  PathWalker(const LabelTreeView& tree, const std::vector<int32_t>& leaf, const std::vector<int32_t>& parent,
             const float* label_weight)
      : leaf_(leaf), parent_(parent), label_weight_(label_weight), seen_(tree.n_nodes, -1) {}

  // Calls visit(node, label) once for every node with a label of `row` below it, the label being the heaviest
  // of those: up from each leaf until a path that was walked before.
  template <class Visit>
  void walk(const LabelMatrixView& labels, int32_t row, const Visit& visit) {
    const int32_t* begin = labels.indices + labels.indptr[row];
    const int32_t* end = labels.indices + labels.indptr[row + 1];
    if (label_weight_ != nullptr) {
      sorted_.assign(begin, end);
      std::stable_sort(sorted_.begin(), sorted_.end(),
                       [&](int32_t a, int32_t b) { return label_weight_[a] > label_weight_[b]; });
      begin = sorted_.data();
      end = begin + sorted_.size();
    }
    for (; begin != end; ++begin) {
      for (int32_t v = leaf_[*begin]; v >= 0 && seen_[v] != row; v = parent_[v]) {
        seen_[v] = row;
        visit(v, *begin);
      }
    }
  }

 private:
  const std::vector<int32_t>&leaf_, &parent_;
  const float* label_weight_;
  std::vector<int32_t> seen_;  // the last row that came by each node
  std::vector<int32_t> sorted_;
};

}  // namespace labeltree
