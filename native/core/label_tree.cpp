#include "core/label_tree.h"

#include <stdexcept>
#include <string>

namespace labeltree {

void check_tree(const LabelTreeView& tree) {
  const bool is_empty = tree.n_nodes == 1 && tree.n_labels == 0 && tree.label[0] < 0;
  if (tree.child_begin[0] != 1 || tree.child_begin[tree.n_nodes] != tree.n_nodes) {
    throw std::invalid_argument("child_begin does not span the nodes");
  }
  int32_t n_leaves = 0;
  for (int32_t v = 0; v < tree.n_nodes; ++v) {
    const auto fail = [&](const char* what) {
      throw std::invalid_argument("node " + std::to_string(v) + " " + what);
    };
    const int32_t begin = tree.child_begin[v], end = tree.child_begin[v + 1];
    if (begin <= v || end < begin) fail("is not numbered breadth first");
    if (tree.label[v] >= tree.n_labels) fail("has a label that is out of range");
    if (tree.is_leaf(v) != (begin == end) && !is_empty) fail("must have either children or a label");
    n_leaves += tree.is_leaf(v);
  }
  if (n_leaves != tree.n_labels) throw std::invalid_argument("there are not as many leaves as labels");
  for (const int32_t leaf : leaves_of_labels(tree)) {
    if (leaf < 0) throw std::invalid_argument("a label is at two leaves");
  }
}

}  // namespace labeltree
