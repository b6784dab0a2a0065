// Trees over examples: every inner node has a separator that sends a row to one of two children, every leaf
// says how frequent labels are among the rows that end there.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "core/progress.h"

namespace labeltree {

// The nodes of all trees, those of tree t from tree_begin[t] to tree_begin[t + 1], the root first, numbered
// breadth first. The children of an inner node v are child[v], where its separator says less than 0, and
// child[v] + 1; a leaf has 0. The separator has the weights weight[weight_begin[v] .. weight_begin[v + 1]) of
// `feature`, ascending, and starts from bias[v]. A leaf has the pairs [pair_begin[v], pair_begin[v + 1]) of
// label, ascending, and probability.
struct ExampleTreeArrays {
  std::vector<int64_t> tree_begin{0};
  std::vector<int32_t> child;
  std::vector<int64_t> weight_begin{0};
  std::vector<int32_t> feature;
  std::vector<float> weight;
  std::vector<float> bias;
  std::vector<int64_t> pair_begin{0};
  std::vector<int32_t> label;
  std::vector<float> probability;
  std::vector<int64_t> n_rounds;  // per tree, of the separator that took most of them
};

struct ExampleTreeOptions {
  double C = 1;
  double tol = 0.2;  // tol and max_iter: see PrimalDescent
  int max_iter = 10;
  float bias = 1;         // the value of the bias feature; 0 for none
  int64_t max_leaf = 10;  // the maximum number of rows in a leaf
  int64_t leaf_labels = 100;
  bool normalize_gain = true;  // nDCG, or DCG
  int n_threads = 1;
};

// A tree for each seed; each tree is one task. Rows of weight 0 are left out. label_gain: what each label
// counts in rankings and leaves, at least 0, or null for 1; leaves are divided by the largest of them.
ExampleTreeArrays grow_example_trees(const Examples& examples, const double* label_gain,
                                     const std::vector<uint64_t>& seeds, const ExampleTreeOptions& options,
                                     Progress& progress);

}  // namespace labeltree
