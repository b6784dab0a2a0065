#include "clustering/joined_tree.h"

#include <limits>
#include <stdexcept>
#include <string>

#include "core/label_tree.h"

namespace labeltree {

namespace {

struct JoinedNode {
  int32_t tree;  // 0 is the top; the others are the subtrees, from 1
  int32_t node;
};

[[noreturn]] void refuse_join(const std::string& what) {
  throw std::invalid_argument("join_subtrees: " + what);
}

// Checks that children come after their parents and within the tree, so that a walk over it ends.
void check_shape(const TreeSpans& tree, const std::string& name) {
  const int64_t n_nodes = tree.label.size;
  if (n_nodes < 1 || tree.child_begin.size != n_nodes + 1) {
    refuse_join(
        name +
        ": expected child_begin with one more entry than label, and a label for the root at least, got " +
        std::to_string(tree.child_begin.size) + " and " + std::to_string(n_nodes));
  }
  if (tree.child_begin[0] != 1 || tree.child_begin[n_nodes] != n_nodes) {
    refuse_join(name + ": expected child_begin from 1 to the number of nodes, " + std::to_string(n_nodes) +
                ", got " + std::to_string(tree.child_begin[0]) + " to " +
                std::to_string(tree.child_begin[n_nodes]));
  }
  for (int64_t v = 0; v < n_nodes; ++v) {
    if (tree.child_begin[v] <= v || tree.child_begin[v + 1] < tree.child_begin[v]) {
      refuse_join(name + ": node " + std::to_string(v) + " is not numbered breadth first");
    }
  }
}

void check_open(const TreeSpans& top, const Span<int32_t>& open_node, size_t n_subtrees) {
  if (open_node.size != static_cast<int64_t>(n_subtrees)) {
    refuse_join("expected a subtree for each of the " + std::to_string(open_node.size) + " open nodes, got " +
                std::to_string(n_subtrees));
  }
  int32_t before = -1;
  for (int64_t i = 0; i < open_node.size; ++i) {
    const int32_t v = open_node[i];
    if (v <= before || v >= top.label.size) {
      refuse_join("expected ascending open nodes below " + std::to_string(top.label.size) + ", got " +
                  std::to_string(v));
    }
    if (top.label[v] >= 0 || top.child_begin[v + 1] != top.child_begin[v]) {
      refuse_join("expected open nodes without children and label, but node " + std::to_string(v) +
                  " has some");
    }
    before = v;
  }
}

}  // namespace

TreeArrays join_subtrees(const TreeSpans& top, const Span<int32_t>& open_node,
                         const std::vector<TreeSpans>& subtrees) {
  check_shape(top, "the top");
  check_open(top, open_node, subtrees.size());
  int64_t n_nodes = top.label.size;
  for (size_t i = 0; i < subtrees.size(); ++i) {
    check_shape(subtrees[i], "subtree " + std::to_string(i));
    n_nodes += subtrees[i].label.size - 1;
  }
  if (n_nodes >= std::numeric_limits<int32_t>::max())
    refuse_join("expected fewer than 2,147,483,647 nodes in all");

  TreeArrays joined;
  joined.child_begin.reserve(n_nodes + 1);
  joined.label.reserve(n_nodes);
  std::vector<JoinedNode> order;
  order.reserve(n_nodes);
  order.push_back({0, 0});
  joined.child_begin.push_back(1);
  int64_t n_open = 0;  // the nodes of the top come in their order
  int32_t n_leaves = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    JoinedNode place = order[i];
    if (place.tree == 0 && n_open < open_node.size && open_node[n_open] == place.node) {
      place = {static_cast<int32_t>(++n_open), 0};
    }
    const TreeSpans& tree = place.tree == 0 ? top : subtrees[place.tree - 1];
    for (int32_t c = tree.child_begin[place.node]; c < tree.child_begin[place.node + 1]; ++c) {
      order.push_back({place.tree, c});
    }
    const int32_t label = tree.label[place.node];
    n_leaves += label >= 0;
    joined.label.push_back(label);
    joined.child_begin.push_back(static_cast<int32_t>(order.size()));
  }
  check_tree(
      {static_cast<int32_t>(joined.label.size()), n_leaves, joined.child_begin.data(), joined.label.data()});
  return joined;
}

}  // namespace labeltree
