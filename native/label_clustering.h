// Hierarchical spherical k-means over label vectors: the tree's shape.
#pragma once

#include <cstdint>
#include <vector>

#include "label_vectors.h"
#include "progress.h"

namespace labeltree {

struct ClusteringOptions {
  int arity = 16;
  int max_leaves = 100;  // a node with at most so many labels gets them as leaves
  bool balanced = true;  // clusters of equal size (give or take one), or as they come
  int max_depth = 0;     // of the tree, in edges; 0 for no limit
  int max_iter = 20;     // of one k-means
  float eps = 1e-4f;     // k-means stops when the mean similarity gains less than this
  uint64_t seed = 0;
  int n_threads = 1;
};

// A tree as LabelTreeView wants it.
struct TreeArrays {
  std::vector<int32_t> child_begin;
  std::vector<int32_t> label;
};

// Labels without a vector are spread evenly: every label gets a leaf.
TreeArrays cluster_labels(const LabelVectors& vectors, const ClusteringOptions& options, Progress& progress);

}  // namespace labeltree
