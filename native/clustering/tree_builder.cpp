#include "clustering/tree_builder.h"

#include <algorithm>
#include <utility>

#include "clustering/kmeans.h"
#include "core/parallel_for.h"
#include "core/random.h"

namespace labeltree {

namespace {

// An open node has at least one label: without any there is nothing left to find.
bool is_open(const ClusterNode& node, int64_t most_labels) {
  return node.size() > 0 && node.size() <= most_labels;
}

void add_open(const ClusterNode& node, int32_t number, int depth, OpenNodes& open) {
  open.node.push_back(number);
  open.label.insert(open.label.end(), node.seen.begin(), node.seen.end());
  open.label.insert(open.label.end(), node.unseen.begin(), node.unseen.end());
  open.begin.push_back(static_cast<int64_t>(open.label.size()));
  open.n_seen.push_back(static_cast<int32_t>(node.seen.size()));
  open.depth.push_back(depth);
  open.seed.push_back(node.seed);
}

}  // namespace

// The parts of a node: its frequent labels one by one, the others clustered.
std::vector<ClusterNode> TreeBuilder::split(ClusterNode& node, int depth, int first_worker, int n_workers) {
  std::vector<ClusterNode> parts = take_frequent(node, first_worker);
  if (node.size() == 0) return parts;
  const size_t n_frequent = parts.size();
  const int k = options_.kmeans.balanced && options_.even_levels
                    ? even_arity(node.size(), depth)
                    : static_cast<int>(std::min<int64_t>(options_.arity, node.size()));
  parts.resize(n_frequent + k);
  ClusterNode* clusters = parts.data() + n_frequent;
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
        KMeans(vectors_, options_.kmeans, makers).run(node.seen.data(), n_seen, k, node.seed, progress_);
    std::vector<int32_t> n_members(k, 0);
    for (const int32_t c : cluster) ++n_members[c];
    for (int c = 0; c < k; ++c) clusters[c].seen.reserve(n_members[c]);
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
  std::erase_if(parts, [](const ClusterNode& part) { return part.size() == 0; });
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
std::vector<ClusterNode> TreeBuilder::take_frequent(ClusterNode& node, int worker) {
  std::vector<ClusterNode> frequent;
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

// The parts of each node that is split; the labels of the node are in them, and no longer in the node.
std::vector<std::vector<ClusterNode>> TreeBuilder::split_level(std::vector<ClusterNode>& level, int depth,
                                                               int64_t most_labels) {
  std::vector<std::vector<ClusterNode>> parts(level.size());
  const auto split_node = [&](int64_t i, int worker, int n_threads) {
    ClusterNode& node = level[i];
    if (is_open(node, most_labels) || is_preleaf(node, depth)) return;
    parts[i] = split(node, depth, worker, n_threads);
    if (parts[i].size() <= 1) {
      // Vectors so alike that k-means cannot part them; none was taken as frequent, or there were two parts.
      parts[i].clear();
      return;
    }
    for (size_t c = 0; c < parts[i].size(); ++c) parts[i][c].seed = mix_seed(node.seed, c);
    node = {};
  };
  // A large node is worth all threads; small ones are shared out.
  const int64_t large = std::max<int64_t>(n_labels_ / (4 * n_workers_), 2048);
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
  return parts;
}

TreeTop TreeBuilder::build(ClusterNode root, int depth, int64_t most_labels) {
  n_labels_ = root.size();
  progress_.start(n_labels_);
  TreeTop top;
  TreeArrays& tree = top.tree;
  tree.child_begin.push_back(1);
  tree.label.push_back(-1);
  std::vector<ClusterNode> level;
  level.push_back(std::move(root));
  // Per node of the level: its index in `level`, or -1 - label for a leaf.
  std::vector<int32_t> waiting = {0};
  for (; !waiting.empty(); ++depth) {
    std::vector<std::vector<ClusterNode>> parts = split_level(level, depth, most_labels);
    std::vector<ClusterNode> next_level;
    std::vector<int32_t> next_waiting;
    int64_t placed = 0;
    auto number = static_cast<int32_t>(tree.label.size() - waiting.size());
    for (const int32_t at : waiting) {
      if (at >= 0 && parts[at].empty()) {
        const ClusterNode& node = level[at];
        placed += node.size();
        if (is_open(node, most_labels)) {
          add_open(node, number, depth, top.open);
        } else {
          for (const int32_t label : node.seen) next_waiting.push_back(-1 - label);
          for (const int32_t label : node.unseen) next_waiting.push_back(-1 - label);
        }
      } else if (at >= 0) {
        for (ClusterNode& part : parts[at]) {
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
      ++number;
    }
    for (const int32_t at : next_waiting) tree.label.push_back(at < 0 ? -1 - at : -1);
    level = std::move(next_level);
    waiting = std::move(next_waiting);
    progress_.advance(placed);
  }
  return top;
}

}  // namespace labeltree
