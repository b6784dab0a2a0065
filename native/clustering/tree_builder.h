// Splits the labels of a node again and again, level by level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "clustering/label_clustering.h"
#include "core/label_examples.h"

namespace labeltree {

// Labels of one node: `seen` have vectors, `unseen` have none.
struct ClusterNode {
  std::vector<int32_t> seen, unseen;
  uint64_t seed = 0;

  int64_t size() const { return static_cast<int64_t>(seen.size() + unseen.size()); }
};

class TreeBuilder {
 public:
  // `examples` has those of the labels in the nodes that will be split.
  TreeBuilder(const FeatureMatrix& vectors, const LabelExamples& examples, int64_t n_examples,
              const ClusteringOptions& options, Progress& progress)
      : vectors_(vectors),
        examples_(examples),
        options_(options),
        progress_(progress),
        n_examples_(n_examples),
        n_workers_(std::max(options.n_threads, 1)),
        makers_(n_workers_),
        counters_(n_workers_) {}

  // The tree below `root`, which is `depth` edges below the root of the whole. Nodes with at most
  // `most_labels` labels stay open.
  TreeTop build(ClusterNode root, int depth, int64_t most_labels);

 private:
  bool is_preleaf(const ClusterNode& node, int depth) const {
    return node.size() <= options_.max_leaves || (options_.max_depth > 0 && depth + 1 >= options_.max_depth);
  }
  std::vector<std::vector<ClusterNode>> split_level(std::vector<ClusterNode>& level, int depth,
                                                    int64_t most_labels);
  std::vector<ClusterNode> split(ClusterNode& node, int depth, int first_worker, int n_workers);
  std::vector<ClusterNode> take_frequent(ClusterNode& node, int worker);
  int even_arity(int64_t n_labels, int depth) const;

  const FeatureMatrix& vectors_;
  const LabelExamples& examples_;
  const ClusteringOptions& options_;
  Progress& progress_;
  int64_t n_examples_;
  int n_workers_;
  int64_t n_labels_ = 0;  // of the root
  // Per worker, made when it first needs one: they are as long as there are features, and examples.
  std::vector<std::unique_ptr<LocalBlockMaker>> makers_;
  std::vector<std::unique_ptr<ExampleCounter>> counters_;
};

}  // namespace labeltree
