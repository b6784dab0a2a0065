#include "online/subtree_values.h"

#include <algorithm>
#include <limits>

namespace labeltree {

// combine(value of a node, value of a child) over all below it. Children may have smaller numbers than their
// parent.
template <class T, class Combine>
static std::vector<T> over_subtrees(const OnlineTree& tree, const T* of_label, T neutral,
                                    const Combine& combine) {
  std::vector<int32_t> order(1, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& children = tree.children(order[i]);
    order.insert(order.end(), children.begin(), children.end());
  }
  std::vector<T> value(tree.n_nodes(), neutral);
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    if (tree.label(*v) >= 0) value[*v] = of_label[tree.label(*v)];
    const int32_t parent = tree.parent(*v);
    if (parent >= 0) value[parent] = combine(value[parent], value[*v]);
  }
  return value;
}

std::vector<float> subtree_minimum(const OnlineTreeView& tree, const float* value_of_label) {
  return over_subtrees<float>(*tree.tree, value_of_label, std::numeric_limits<float>::infinity(),
                              [](float a, float b) { return std::min(a, b); });
}

std::vector<double> subtree_maximum(const OnlineTreeView& tree, const double* value_of_label) {
  return over_subtrees<double>(*tree.tree, value_of_label, 0.0,
                               [](double a, double b) { return std::max(a, b); });
}

std::vector<uint8_t> subtree_any(const OnlineTreeView& tree, const uint8_t* label_allowed) {
  return over_subtrees<uint8_t>(*tree.tree, label_allowed, 0,
                                [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
}

}  // namespace labeltree
