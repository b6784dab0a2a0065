#include "search/subtree_values.h"

#include <algorithm>

namespace labeltree {

// best(begin, end): where the best of some values is.
template <class T, class Best>
static std::vector<T> best_below(const LabelTreeView& tree, const T* value_of_label, const Best& best) {
  std::vector<T> value(tree.n_nodes);
  for (int32_t v = tree.n_nodes - 1; v >= 0; --v) {  // children have larger numbers than their parent
    value[v] = tree.is_leaf(v)
                   ? value_of_label[tree.label[v]]
                   : *best(value.data() + tree.child_begin[v], value.data() + tree.child_begin[v + 1]);
  }
  return value;
}

std::vector<float> subtree_minimum(const LabelTreeView& tree, const float* value_of_label) {
  return best_below(tree, value_of_label, [](auto begin, auto end) { return std::min_element(begin, end); });
}

std::vector<double> subtree_maximum(const LabelTreeView& tree, const double* value_of_label) {
  return best_below(tree, value_of_label, [](auto begin, auto end) { return std::max_element(begin, end); });
}

std::vector<uint8_t> subtree_any(const LabelTreeView& tree, const uint8_t* label_allowed) {
  return best_below(tree, label_allowed, [](auto begin, auto end) { return std::max_element(begin, end); });
}

}  // namespace labeltree
