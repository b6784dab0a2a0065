#include "clustering/label_clustering.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "clustering/tree_builder.h"
#include "core/label_examples.h"
#include "core/random.h"

namespace labeltree {

namespace {

void check_options(const ClusteringOptions& options) {
  if (options.kmeans.first_sample < 1 || options.kmeans.sample < 1 || options.kmeans.max_iter < 1) {
    throw std::invalid_argument("first_sample, sample and max_iter of k-means must be 1 or more");
  }
}

// The root of all labels.
ClusterNode all_labels(const FeatureMatrix& vectors, uint64_t seed) {
  ClusterNode root;
  root.seed = mix_seed(seed, 0);
  FeatureRow vector;
  for (int32_t j = 0; j < static_cast<int32_t>(vectors.n_rows()); ++j) {
    vector.clear();
    vectors.append_entries(j, vector);
    (vector.index.empty() ? root.unseen : root.seen).push_back(j);
  }
  return root;
}

// The number of each label among those of a node; -1 for other labels.
std::vector<int32_t> numbers(const OpenNode& node, int32_t n_labels) {
  std::vector<int32_t> number(n_labels, -1);
  for (int64_t i = 0; i < node.label.size; ++i) {
    const int32_t label = node.label[i];
    if (label < 0 || label >= n_labels) {
      throw std::invalid_argument("expected labels from 0 to " + std::to_string(n_labels - 1) + ", got " +
                                  std::to_string(label));
    }
    if (number[label] >= 0) {
      throw std::invalid_argument("expected every label once, got label " + std::to_string(label) + " twice");
    }
    number[label] = static_cast<int32_t>(i);
  }
  return number;
}

}  // namespace

TreeTop cluster_top(const FeatureMatrix& vectors, const LabelMatrixView& labels,
                    const ClusteringOptions& options, int64_t most_labels, Progress& progress) {
  check_options(options);
  if (most_labels < 0) {
    throw std::invalid_argument("most_labels must be 0 or more, got " + std::to_string(most_labels));
  }
  const LabelExamples examples(labels, static_cast<int32_t>(vectors.n_rows()));
  return TreeBuilder(vectors, examples, labels.n_rows, options, progress)
      .build(all_labels(vectors, options.seed), 0, most_labels);
}

TreeArrays cluster_subtree(const FeatureMatrix& vectors, const LabelMatrixView& labels, int32_t n_labels,
                           const ClusteringOptions& options, const OpenNode& node, Progress& progress) {
  check_options(options);
  if (node.n_seen < 0 || node.n_seen > node.label.size) {
    throw std::invalid_argument("expected n_seen from 0 to the number of labels, " +
                                std::to_string(node.label.size) + ", got " + std::to_string(node.n_seen));
  }
  // Every level of a tree parts labels.
  if (node.depth < 0 || node.depth > n_labels) {
    throw std::invalid_argument("expected a depth from 0 to the number of labels, " +
                                std::to_string(n_labels) + ", got " + std::to_string(node.depth));
  }
  const LabelExamples examples(labels, numbers(node, n_labels), node.label.size);
  ClusterNode root;
  root.seed = node.seed;
  root.seen.resize(node.n_seen);
  root.unseen.resize(node.label.size - node.n_seen);
  std::iota(root.seen.begin(), root.seen.end(), 0);
  std::iota(root.unseen.begin(), root.unseen.end(), static_cast<int32_t>(node.n_seen));
  TreeArrays tree = TreeBuilder(vectors, examples, labels.n_rows, options, progress)
                        .build(std::move(root), node.depth, 0)
                        .tree;
  for (int32_t& label : tree.label) {
    if (label >= 0) label = node.label[label];
  }
  return tree;
}

}  // namespace labeltree
