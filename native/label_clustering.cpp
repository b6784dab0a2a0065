#include "label_clustering.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "aligned_floats.h"
#include "local_block.h"
#include "parallel_for.h"
#include "random.h"

namespace labeltree {

namespace {

constexpr int64_t kRowsPerTask = 512;

// Columns of the matrix of centroids: a width whose rows are aligned for the vectors that read them.
int padded(int k) { return k <= 4 ? 4 : k <= 8 ? 8 : (k + 15) / 16 * 16; }

// Labels of one node: `seen` have vectors, `unseen` have none.
struct Node {
  std::vector<int32_t> seen, unseen;

  int64_t size() const { return static_cast<int64_t>(seen.size() + unseen.size()); }
};

// k-means over the vectors of one node's labels.
class KMeans {
 public:
  KMeans(const LocalBlock& block, int k, const ClusteringOptions& options, uint64_t seed, int n_threads)
      : block_(block),
        k_(k),
        lanes_(padded(k)),
        n_(static_cast<int32_t>(block.n_rows())),
        options_(options),
        random_(seed),
        n_threads_(n_threads),
        cluster_(n_) {
    centroids_.reset(static_cast<int64_t>(block.n_features()) * lanes_);
    similarity_.reset(static_cast<int64_t>(n_) * lanes_);
  }

  // The cluster of every row.
  const std::vector<int32_t>& run(const Progress& progress) {
    start_from_random_rows();
    double before = -1;
    for (int iteration = 0; iteration < options_.max_iter; ++iteration) {
      parallel_ranges(n_threads_, n_, kRowsPerTask, [&](int64_t begin, int64_t end, int) {
        progress.check();
        lane_kernels().multiply(block_.rows(), begin, end, centroids_.data(), lanes_, similarity_.data());
      });
      options_.balanced ? assign_balanced() : assign_nearest();
      const double now = mean_similarity();
      if (now - before < options_.eps) break;
      before = now;
      move_centroids();
    }
    return cluster_;
  }

 private:
  const float* similarity(int32_t row) const {
    return similarity_.data() + static_cast<int64_t>(row) * lanes_;
  }

  void start_from_random_rows() {
    std::vector<int32_t> rows(n_);
    std::iota(rows.begin(), rows.end(), 0);
    for (int c = 0; c < k_; ++c) {
      std::swap(rows[c], rows[c + random_.below(n_ - c)]);
      for (int64_t k = block_.row_begin[rows[c]]; k < block_.row_begin[rows[c] + 1]; ++k) {
        centroids_.data()[static_cast<int64_t>(block_.index[k]) * lanes_ + c] = block_.value[k];
      }
    }
  }

  void assign_nearest() {
    for (int32_t i = 0; i < n_; ++i) {
      cluster_[i] = static_cast<int32_t>(std::max_element(similarity(i), similarity(i) + k_) - similarity(i));
    }
  }

  // Rows choose in the order of what they would lose by their second choice; a cluster that is full is out.
  void assign_balanced() {
    std::vector<int32_t> room(k_);
    for (int c = 0; c < k_; ++c) room[c] = n_ / k_ + (c < n_ % k_);
    std::vector<float> regret(n_);
    for (int32_t i = 0; i < n_; ++i) {
      const float* s = similarity(i);
      float first = s[0], second = -2;
      for (int c = 1; c < k_; ++c) {
        if (s[c] > first) {
          second = first;
          first = s[c];
        } else if (s[c] > second) {
          second = s[c];
        }
      }
      regret[i] = first - second;
    }
    std::vector<int32_t> order(n_);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return regret[a] > regret[b]; });
    for (const int32_t i : order) {
      const float* s = similarity(i);
      int best = -1;
      for (int c = 0; c < k_; ++c) {
        if (room[c] > 0 && (best < 0 || s[c] > s[best])) best = c;
      }
      cluster_[i] = best;
      --room[best];
    }
  }

  double mean_similarity() const {
    double sum = 0;
    for (int32_t i = 0; i < n_; ++i) sum += similarity(i)[cluster_[i]];
    return sum / n_;
  }

  // One cluster is summed by one thread, in the order of its rows: the sum does not depend on the threads.
  void move_centroids() {
    std::vector<int32_t> begin(k_ + 1, 0), rows(n_);
    for (const int32_t c : cluster_) ++begin[c + 1];
    for (int c = 0; c < k_; ++c) begin[c + 1] += begin[c];
    std::vector<int32_t> at(begin.begin(), begin.end() - 1);
    for (int32_t i = 0; i < n_; ++i) rows[at[cluster_[i]]++] = i;
    const int32_t n_features = block_.n_features();
    centroids_.reset(static_cast<int64_t>(n_features) * lanes_);
    parallel_for(n_threads_, k_, [&](int64_t c, int) {
      std::vector<float> sum(n_features, 0.0f);
      for (int32_t r = begin[c]; r < begin[c + 1]; ++r) {
        for (int64_t k = block_.row_begin[rows[r]]; k < block_.row_begin[rows[r] + 1]; ++k) {
          sum[block_.index[k]] += block_.value[k];
        }
      }
      double squares = 0;
      for (const float s : sum) squares += static_cast<double>(s) * s;
      const float scale = squares > 0 ? static_cast<float>(1 / std::sqrt(squares)) : 0;
      for (int32_t f = 0; f < n_features; ++f) {
        if (sum[f] != 0) centroids_.data()[static_cast<int64_t>(f) * lanes_ + c] = sum[f] * scale;
      }
    });
  }

  const LocalBlock& block_;
  int k_, lanes_;
  int32_t n_;
  const ClusteringOptions& options_;
  Random random_;
  int n_threads_;
  std::vector<int32_t> cluster_;
  AlignedFloats centroids_, similarity_;
};

class TreeBuilder {
 public:
  TreeBuilder(const LabelVectors& vectors, const ClusteringOptions& options, Progress& progress)
      : vectors_(vectors),
        matrix_(vectors.matrix()),
        options_(options),
        progress_(progress),
        makers_(std::max(options.n_threads, 1)) {}

  TreeArrays build();

 private:
  bool is_preleaf(const Node& node, int depth) const {
    return node.size() <= options_.max_leaves || (options_.max_depth > 0 && depth + 1 >= options_.max_depth);
  }
  std::vector<Node> split(const Node& node, uint64_t seed, int worker, int n_threads);

  const LabelVectors& vectors_;
  FeatureMatrix matrix_;
  const ClusteringOptions& options_;
  Progress& progress_;
  std::vector<std::unique_ptr<LocalBlockMaker>> makers_;
};

std::vector<Node> TreeBuilder::split(const Node& node, uint64_t seed, int worker, int n_threads) {
  const int64_t wanted = (node.size() + options_.max_leaves - 1) / options_.max_leaves;
  const int k =
      static_cast<int>(std::min<int64_t>(options_.balanced ? wanted : options_.arity, options_.arity));
  std::vector<Node> parts(k);
  const int32_t n_seen = static_cast<int32_t>(node.seen.size());
  if (n_seen <= k) {
    for (int32_t i = 0; i < n_seen; ++i) parts[i].seen.push_back(node.seen[i]);
  } else {
    if (!makers_[worker]) makers_[worker] = std::make_unique<LocalBlockMaker>(matrix_.n_features());
    const LocalBlock block = makers_[worker]->make(matrix_, node.seen.data(), n_seen, 0, progress_);
    KMeans kmeans(block, k, options_, seed, n_threads);
    const std::vector<int32_t>& cluster = kmeans.run(progress_);
    for (int32_t i = 0; i < n_seen; ++i) parts[cluster[i]].seen.push_back(node.seen[i]);
  }
  // The unseen go where there is most room.
  std::vector<int64_t> size(k);
  for (int c = 0; c < k; ++c) size[c] = static_cast<int64_t>(parts[c].seen.size());
  for (const int32_t label : node.unseen) {
    const auto smallest = std::min_element(size.begin(), size.end());
    parts[smallest - size.begin()].unseen.push_back(label);
    ++*smallest;
  }
  std::erase_if(parts, [](const Node& part) { return part.size() == 0; });
  return parts;
}

TreeArrays TreeBuilder::build() {
  const int32_t n_labels = vectors_.n_labels();
  Node root;
  for (int32_t j = 0; j < n_labels; ++j) {
    (vectors_.begin[j + 1] > vectors_.begin[j] ? root.seen : root.unseen).push_back(j);
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
      parts[i] = split(level[i], mix_seed(options_.seed, tree.label.size() + i), worker, n_threads);
      // Vectors so alike that k-means cannot part them.
      if (parts[i].size() <= 1) parts[i].clear();
    };
    // A large node is worth all threads; small ones are shared out.
    const int64_t large = std::max<int64_t>(n_labels / (4 * std::max(options_.n_threads, 1)), 2048);
    std::vector<int64_t> small;
    for (size_t i = 0; i < level.size(); ++i) {
      if (level[i].size() > large) {
        split_node(static_cast<int64_t>(i), 0, options_.n_threads);
      } else {
        small.push_back(static_cast<int64_t>(i));
      }
    }
    parallel_for(options_.n_threads, static_cast<int64_t>(small.size()),
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

TreeArrays cluster_labels(const LabelVectors& vectors, const ClusteringOptions& options, Progress& progress) {
  return TreeBuilder(vectors, options, progress).build();
}

}  // namespace labeltree
