// A tree over labels as two flat arrays; see LabelTree in Python, which makes and checks it.
#pragma once

#include <cstdint>
#include <vector>

namespace labeltree {

// Nodes are numbered breadth first from the root 0, so the children of node v are the contiguous range
// [child_begin[v], child_begin[v + 1]). label[v] is the label of a leaf, -1 for an inner node.
struct LabelTreeView {
  int32_t n_nodes;
  int32_t n_labels;
  const int32_t* child_begin;
  const int32_t* label;

  int32_t n_children(int32_t node) const { return child_begin[node + 1] - child_begin[node]; }
  int32_t child(int32_t node, int32_t i) const { return child_begin[node] + i; }
  // Which child of its parent a node is.
  int32_t place_of(int32_t parent, int32_t child) const { return child - child_begin[parent]; }
  bool is_leaf(int32_t node) const { return label[node] >= 0; }
  int32_t label_of(int32_t leaf) const { return label[leaf]; }
};

// Throws std::invalid_argument unless the arrays are a tree, numbered breadth first, with every label at one
// leaf, or a root alone without labels: all look-ups by node or label rely on this. LabelTree in Python
// checks the same, with better messages.
void check_tree(const LabelTreeView& tree);

inline std::vector<int32_t> parents(const LabelTreeView& tree) {
  std::vector<int32_t> parent(tree.n_nodes, -1);
  for (int32_t v = 0; v < tree.n_nodes; ++v) {
    for (int32_t c = tree.child_begin[v]; c < tree.child_begin[v + 1]; ++c) parent[c] = v;
  }
  return parent;
}

inline std::vector<int32_t> leaves_of_labels(const LabelTreeView& tree) {
  std::vector<int32_t> leaf(tree.n_labels, -1);
  for (int32_t v = 0; v < tree.n_nodes; ++v) {
    if (tree.label[v] >= 0) leaf[tree.label[v]] = v;
  }
  return leaf;
}

}  // namespace labeltree
