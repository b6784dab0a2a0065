// Hierarchical spherical k-means over label vectors: the tree's shape.
#pragma once

#include <cstdint>
#include <vector>

#include "clustering/kmeans.h"
#include "core/feature_matrix.h"
#include "core/label_matrix.h"
#include "core/progress.h"
#include "core/span.h"

namespace labeltree {

struct ClusteringOptions {
  int arity = 32;
  // In balanced trees: nodes get fewer clusters than `arity` where that costs no level; else `arity` of them.
  bool even_levels = true;
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

// Nodes of a tree whose children are still to be found, in node order.
struct OpenNodes {
  std::vector<int32_t> node;
  std::vector<int64_t> begin{0};  // node i has the labels [begin[i], begin[i + 1])
  std::vector<int32_t> label;     // those with vectors first
  std::vector<int32_t> n_seen;    // how many of them have vectors
  std::vector<int32_t> depth;
  std::vector<uint64_t> seed;
};

// The upper part of a tree; an open node has neither children nor a label.
struct TreeTop {
  TreeArrays tree;
  OpenNodes open;
};

// One of OpenNodes; the caller owns the labels.
struct OpenNode {
  Span<int32_t> label;
  int64_t n_seen;
  int depth;
  uint64_t seed;
};

// `vectors` has a row of unit length per label; `labels` says which labels are frequent. Labels whose row is
// empty are spread evenly: every label gets a leaf. Nodes with at most `most_labels` labels are left open.
//
// The seed of a node comes from its parent's and its place among the children: what is below a node does not
// depend on who finds it.
TreeTop cluster_top(const FeatureMatrix& vectors, const LabelMatrixView& labels,
                    const ClusteringOptions& options, int64_t most_labels, Progress& progress);

// The tree below an open node, which is its root; `vectors` has a row for each label of the node, in the
// order of node.label. Throws std::invalid_argument for labels that are out of range or come twice.
TreeArrays cluster_subtree(const FeatureMatrix& vectors, const LabelMatrixView& labels, int32_t n_labels,
                           const ClusteringOptions& options, const OpenNode& node, Progress& progress);

}  // namespace labeltree
