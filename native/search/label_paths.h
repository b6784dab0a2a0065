// The paths of a label in several trees, walked side by side to find its average.
#pragma once

#include <cstdint>
#include <vector>

#include "search/tree_average.h"
#include "search/tree_search.h"

namespace labeltree {

// A probability only falls on the way down. So the average of the nodes that are reached is the largest that
// the label can have, and whoever sees that this is too little need not go on.
template <class Store>
class LabelPaths {
 public:
  // Walks where blocks are expanded already. Returns the largest average that the label can have.
  float start(const TreeAverage& average, std::vector<TreeSearch<Store>>& searches, int32_t label) {
    average_ = &average;
    searches_ = &searches;
    paths_.resize(searches.size());
    values_.resize(searches.size());
    for (size_t t = 0; t < paths_.size(); ++t) {
      Path& path = paths_[t];
      path.nodes.clear();
      const Store& store = searches[t].store();
      for (int32_t v = store.leaf_of(label); v != 0; v = store.parent(v)) path.nodes.push_back(v);
      path.reached = 0;
      path.probability = searches[t].expand(0)[0];
      walk(t);
    }
    find_next();
    return largest_average();
  }

  // Whether the leaves are reached: then the largest average is the average.
  bool are_walked() const { return next_ == paths_.size(); }

  // Expands the next block. Returns the largest average that the label can have.
  float go_on() {
    TreeSearch<Store>& search = (*searches_)[next_];
    search.expand(search.store().block_of(paths_[next_].reached));
    walk(next_);
    find_next();
    return largest_average();
  }

 private:
  struct Path {
    std::vector<int32_t> nodes;  // that are left, the leaf first
    int32_t reached;
    float probability;  // of the node that is reached
  };

  // From the root down, as the searches multiply: the same product to the last bit.
  void walk(size_t t) {
    TreeSearch<Store>& search = (*searches_)[t];
    const Store& store = search.store();
    Path& path = paths_[t];
    while (!path.nodes.empty() && search.is_expanded(store.block_of(path.reached))) {
      const int32_t child = path.nodes.back();
      path.nodes.pop_back();
      path.probability *=
          search.expand(store.block_of(path.reached))[store.tree().place_of(path.reached, child)];
      path.reached = child;
    }
  }

  // The tree in which the average can fall most goes on, if any.
  void find_next() {
    next_ = paths_.size();
    double largest = -1;
    for (size_t t = 0; t < paths_.size(); ++t) {
      const double share = average_->weight(t) * paths_[t].probability;
      if (paths_[t].nodes.empty() || share <= largest) continue;
      largest = share;
      next_ = t;
    }
  }

  float largest_average() {
    for (size_t t = 0; t < paths_.size(); ++t) values_[t] = paths_[t].probability;
    return static_cast<float>(average_->mean(values_));
  }

  const TreeAverage* average_ = nullptr;
  std::vector<TreeSearch<Store>>* searches_ = nullptr;
  std::vector<Path> paths_;
  std::vector<double> values_;  // per tree
  size_t next_ = 0;             // the tree that goes on
};

}  // namespace labeltree
