// Hierarchical spherical k-means over label vectors: the tree's shape.
#pragma once

#include <cstdint>
#include <vector>

#include "clustering/kmeans.h"
#include "core/feature_matrix.h"
#include "core/label_matrix.h"
#include "core/progress.h"

namespace labeltree {

struct ClusteringOptions {
  int arity = 32;
  int max_leaves = 100;  // the maximum number of labels in a leaf cluster
  int max_depth = 0;     // of the tree, in edges; 0 for no limit
  // A label that at least this share of a node's examples have is a leaf right below that node; 0 for none.
  double frequent_share = 0.01;
  KMeansOptions kmeans;
  uint64_t seed = 0;
  int n_threads = 1;
};

// A tree as LabelTreeView wants it.
struct TreeArrays {
  std::vector<int32_t> child_begin;
  std::vector<int32_t> label;
};

// `vectors` has a row of unit length per label; `labels` says which labels are frequent. Labels whose row is
// empty are spread evenly: every label gets a leaf.
TreeArrays cluster_labels(const FeatureMatrix& vectors, const LabelMatrixView& labels,
                          const ClusteringOptions& options, Progress& progress);

}  // namespace labeltree
