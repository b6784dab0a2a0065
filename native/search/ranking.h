// What a search finds, and the order in which it looks: by probability, or by worth, which is the weight of a
// label times its probability.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace labeltree {

struct ScoredLabel {
  float probability;
  int32_t label;

  // Better first; equal ones by label.
  bool operator<(const ScoredLabel& other) const {
    return probability != other.probability ? probability > other.probability : label < other.label;
  }
};

struct ScoredNode {
  float probability;
  int32_t node;

  // As std::priority_queue wants it: the best is the largest; equal ones in node order.
  bool operator<(const ScoredNode& other) const {
    return probability != other.probability ? probability < other.probability : node > other.node;
  }
};

// A ranking says how good a label is, and how good the best label below a node can be. It orders both as
// their operators do, with what it says in place of the probability. bound(): how good a label can be on
// average, from the mean of how good it can be in each tree; with less than least_mean() it is worse than a
// value.
struct ByProbability {
  float value(const ScoredLabel& label) const { return label.probability; }
  float value(const ScoredNode& node) const { return node.probability; }
  float bound(double mean) const { return static_cast<float>(mean); }
  double least_mean(float value) const { return value * (1 - 0x1p-20) - 0x1p-149; }
  bool operator()(const ScoredLabel& a, const ScoredLabel& b) const { return a < b; }
  bool operator()(const ScoredNode& a, const ScoredNode& b) const { return a < b; }
};

// Products in double precision: none overflows, and that of a node, by the largest weight below it, is never
// below that of a label there.
struct ByWorth {
  const double* label_weight = nullptr;  // finite and at least 0
  const double* node_weight = nullptr;   // the largest below each node

  double value(const ScoredLabel& s) const { return label_weight[s.label] * s.probability; }
  double value(const ScoredNode& s) const { return node_weight[s.node] * s.probability; }
  // Averages are rounded to single precision before they are multiplied.
  double bound(double mean) const { return mean * (1 + 0x1p-20) + node_weight[0] * 0x1p-149; }
  double least_mean(double value) const { return value * (1 - 0x1p-18) - node_weight[0] * 0x1p-148; }
  bool operator()(const ScoredLabel& a, const ScoredLabel& b) const {
    const double of_a = value(a), of_b = value(b);
    return of_a != of_b ? of_a > of_b : a.label < b.label;
  }
  bool operator()(const ScoredNode& a, const ScoredNode& b) const {
    const double of_a = value(a), of_b = value(b);
    return of_a != of_b ? of_a < of_b : a.node > b.node;
  }
};

// Puts the last entry of a heap in its place, and the top of one last. By probability this is done with the
// operators, for which compilers make fewer instructions.
template <class T, class Ranking>
void push_ranked(std::vector<T>& heap, const Ranking& ranking) {
  if constexpr (std::is_same_v<Ranking, ByProbability>) {
    std::push_heap(heap.begin(), heap.end());
  } else {
    std::push_heap(heap.begin(), heap.end(), ranking);
  }
}

template <class T, class Ranking>
void pop_ranked(std::vector<T>& heap, const Ranking& ranking) {
  if constexpr (std::is_same_v<Ranking, ByProbability>) {
    std::pop_heap(heap.begin(), heap.end());
  } else {
    std::pop_heap(heap.begin(), heap.end(), ranking);
  }
}

// Keeps the k best, best first.
template <class Ranking = ByProbability>
void keep_best(int64_t k, std::vector<ScoredLabel>& labels, const Ranking& ranking = {}) {
  if (static_cast<int64_t>(labels.size()) > k) {
    std::nth_element(labels.begin(), labels.begin() + k, labels.end(), ranking);
    labels.resize(k);
  }
  std::sort(labels.begin(), labels.end(), ranking);
}

// Keeps the `beam` best, in no order.
template <class Ranking>
void keep_beam(int64_t beam, std::vector<ScoredNode>& nodes, const Ranking& ranking) {
  if (static_cast<int64_t>(nodes.size()) <= beam) return;
  std::nth_element(nodes.begin(), nodes.begin() + beam, nodes.end(),
                   [&](const ScoredNode& a, const ScoredNode& b) { return ranking(b, a); });
  nodes.resize(beam);
}

}  // namespace labeltree
