#include "clustering/label_clustering.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "clustering/kmeans.h"
#include "core/label_examples.h"
#include "core/parallel_for.h"
#include "core/random.h"

namespace labeltree {

namespace {

// Labels of one node: `seen` have vectors, `unseen` have none.
struct Node {
  std::vector<int32_t> seen, unseen;

  int64_t size() const { return static_cast<int64_t>(seen.size() + unseen.size()); }
};

class TreeBuilder {
 public:
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

  TreeArrays build();

 private:
  bool is_preleaf(const Node& node, int depth) const {
    return node.size() <= options_.max_leaves || (options_.max_depth > 0 && depth + 1 >= options_.max_depth);
  }
  std::vector<Node> split(Node& node, int depth, uint64_t seed, int first_worker, int n_workers);
  std::vector<Node> take_frequent(Node& node, int worker);
  int even_arity(int64_t n_labels, int depth) const;

  const FeatureMatrix& vectors_;
  const LabelExamples& examples_;
  const ClusteringOptions& options_;
  Progress& progress_;
  int64_t n_examples_;
  int n_workers_;
  // Per worker, made when it first needs one: they are as long as there are features, and examples.
  std::vector<std::unique_ptr<LocalBlockMaker>> makers_;
  std::vector<std::unique_ptr<ExampleCounter>> counters_;
};

// The parts of a node: its frequent labels one by one, the others clustered.
std::vector<Node> TreeBuilder::split(Node& node, int depth, uint64_t seed, int first_worker, int n_workers) {
  std::vector<Node> parts = take_frequent(node, first_worker);
  if (node.size() == 0) return parts;
  const size_t n_frequent = parts.size();
  const int k = options_.kmeans.balanced ? even_arity(node.size(), depth)
                                         : static_cast<int>(std::min<int64_t>(options_.arity, node.size()));
  parts.resize(n_frequent + k);
  Node* clusters = parts.data() + n_frequent;
  const int32_t n_seen = static_cast<int32_t>(node.seen.size());
  if (n_seen <= k) {
    for (int32_t i = 0; i < n_seen; ++i) clusters[i].seen.push_back(node.seen[i]);
  } else if (k == 1) {
    clusters[0].seen = node.seen;
  } else {
    std::vector<LocalBlockMaker*> makers;
    for (int worker = first_worker; worker < first_worker + n_workers; ++worker) {
      if (!makers_[worker]) makers_[worker] = std::make_unique<LocalBlockMaker>(vectors_.n_features());
      makers.push_back(makers_[worker].get());
    }
    const std::vector<int32_t> cluster =
        KMeans(vectors_, options_.kmeans, makers).run(node.seen.data(), n_seen, k, seed, progress_);
    for (int32_t i = 0; i < n_seen; ++i) clusters[cluster[i]].seen.push_back(node.seen[i]);
  }
  // The unseen go where there is most room.
  std::vector<int64_t> size(k);
  for (int c = 0; c < k; ++c) size[c] = static_cast<int64_t>(clusters[c].seen.size());
  for (const int32_t label : node.unseen) {
    const auto smallest = std::min_element(size.begin(), size.end());
    clusters[smallest - size.begin()].unseen.push_back(label);
    ++*smallest;
  }
  std::erase_if(parts, [](const Node& part) { return part.size() == 0; });
  return parts;
}

// The smallest arity with which clusters of equal size need no more levels than with the largest one allowed.
int TreeBuilder::even_arity(int64_t n_labels, int depth) const {
  const int64_t n_preleaves = (n_labels + options_.max_leaves - 1) / options_.max_leaves;
  const int most_levels = options_.max_depth > 0 ? options_.max_depth - 1 - depth : 32;
  const auto reached = [&](int64_t arity, int levels) {
    int64_t nodes = 1;
    for (int level = 0; level < levels && nodes < n_preleaves; ++level) nodes *= arity;
    return nodes >= n_preleaves;
  };
  int levels = 1, arity = 1;
  while (levels < most_levels && !reached(options_.arity, levels)) ++levels;
  while (arity < options_.arity && !reached(arity, levels)) ++arity;
  return arity;
}

// A label that many of the node's examples have would bring all of them into whatever cluster it went to:
// kept here it costs no more and is decided in one step less.
std::vector<Node> TreeBuilder::take_frequent(Node& node, int worker) {
  std::vector<Node> frequent;
  if (options_.frequent_share <= 0) return frequent;
  if (!counters_[worker]) counters_[worker] = std::make_unique<ExampleCounter>(examples_, n_examples_);
  const double least = options_.frequent_share * static_cast<double>(counters_[worker]->count(node.seen));
  if (least == 0) return frequent;  // labels with vectors, but without examples
  std::erase_if(node.seen, [&](int32_t label) {
    if (static_cast<double>(examples_.count(label)) < least) return false;
    frequent.push_back({{label}, {}});
    return true;
  });
  return frequent;
}

TreeArrays TreeBuilder::build() {
  const int32_t n_labels = examples_.n_labels();
  Node root;
  FeatureRow vector;
  for (int32_t j = 0; j < n_labels; ++j) {
    vector.clear();
    vectors_.append_entries(j, vector);
    (vector.index.empty() ? root.unseen : root.seen).push_back(j);
  }
  progress_.start(n_labels);

  // Level by level: `level` are the nodes to be given children, in node order; -1 - label stands for a leaf.
  TreeArrays tree;
  tree.child_begin.push_back(1);
  tree.label.push_back(-1);
  std::vector<Node> level;
  level.push_back(std::move(root));
  std::vector<int32_t> waiting = {
      0};  // per node of the level: its index in `level`, or -1 - label for a leaf
  for (int depth = 0; !waiting.empty(); ++depth) {
    std::vector<std::vector<Node>> parts(level.size());
    const auto split_node = [&](int64_t i, int worker, int n_threads) {
      if (is_preleaf(level[i], depth)) return;
      parts[i] = split(level[i], depth, mix_seed(options_.seed, tree.label.size() + i), worker, n_threads);
      // Vectors so alike that k-means cannot part them; none was taken as frequent, or there were two parts.
      if (parts[i].size() <= 1) parts[i].clear();
    };
    // A large node is worth all threads; small ones are shared out.
    const int64_t large = std::max<int64_t>(n_labels / (4 * n_workers_), 2048);
    std::vector<int64_t> small;
    for (size_t i = 0; i < level.size(); ++i) {
      if (level[i].size() > large) {
        split_node(static_cast<int64_t>(i), 0, n_workers_);
      } else {
        small.push_back(static_cast<int64_t>(i));
      }
    }
    parallel_for(n_workers_, static_cast<int64_t>(small.size()),
                 [&](int64_t i, int worker) { split_node(small[i], worker, 1); });

    std::vector<Node> next_level;
    std::vector<int32_t> next_waiting;
    int64_t placed = 0;
    for (const int32_t at : waiting) {
      if (at >= 0 && parts[at].empty()) {
        std::vector<int32_t> labels = level[at].seen;
        labels.insert(labels.end(), level[at].unseen.begin(), level[at].unseen.end());
        for (const int32_t label : labels) next_waiting.push_back(-1 - label);
        placed += static_cast<int64_t>(labels.size());
      } else if (at >= 0) {
        for (Node& part : parts[at]) {
          if (part.size() == 1) {
            next_waiting.push_back(-1 - (part.seen.empty() ? part.unseen[0] : part.seen[0]));
            ++placed;
            continue;
          }
          next_waiting.push_back(static_cast<int32_t>(next_level.size()));
          next_level.push_back(std::move(part));
        }
      }
      tree.child_begin.push_back(static_cast<int32_t>(tree.label.size() + next_waiting.size()));
    }
    for (const int32_t at : next_waiting) tree.label.push_back(at < 0 ? -1 - at : -1);
    level = std::move(next_level);
    waiting = std::move(next_waiting);
    progress_.advance(placed);
  }
  return tree;
}

}  // namespace

TreeArrays cluster_labels(const FeatureMatrix& vectors, const LabelMatrixView& labels,
                          const ClusteringOptions& options, Progress& progress) {
  if (options.kmeans.first_sample < 1 || options.kmeans.sample < 1 || options.kmeans.max_iter < 1) {
    throw std::invalid_argument("first_sample, sample and max_iter of k-means must be 1 or more");
  }
  const LabelExamples examples(labels, static_cast<int32_t>(vectors.n_rows()));
  return TreeBuilder(vectors, examples, labels.n_rows, options, progress).build();
}

}  // namespace labeltree
