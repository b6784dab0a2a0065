#include "online/online_search.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/parallel_for.h"

namespace labeltree {

namespace {

constexpr int64_t kRowsPerTask = 16;

std::vector<uint8_t> allowed_nodes(const OnlineTree& tree, const OnlineSearchOptions& options) {
  if (options.label_allowed == nullptr) return {};
  return over_subtrees<uint8_t>(tree, options.label_allowed, 0,
                                [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
}

std::vector<double> node_weights(const OnlineTree& tree, const OnlineSearchOptions& options) {
  if (options.label_weight == nullptr) return {};
  return over_subtrees<double>(tree, options.label_weight, 0.0,
                               [](double a, double b) { return std::max(a, b); });
}

// Calls body(row number, row, search) for all rows.
template <class Body>
void for_rows(const OnlineTree& tree, const FeatureMatrix& features, const OnlineSearchOptions& options,
              const Body& body) {
  const std::vector<uint8_t> allowed = allowed_nodes(tree, options);
  const std::vector<double> node_weight = node_weights(tree, options);
  parallel_ranges(options.n_threads, features.n_rows(), kRowsPerTask, [&](int64_t begin, int64_t end, int) {
    OnlineSearch search(tree, options.normalize_siblings, options.beam,
                        allowed.empty() ? nullptr : allowed.data(),
                        {options.label_weight, node_weight.data()});
    FeatureRow row;
    for (int64_t i = begin; i < end; ++i) {
      row.clear();
      features.append_entries(i, row);
      body(i, row, search);
    }
  });
}

}  // namespace

float OnlineSearch::start(const FeatureRow& row) {
  tree_.read(row, x_);
  n_evaluations_ = 1;
  return tree_.root_probability(x_);
}

const float* OnlineSearch::expand(int32_t node) {
  const size_t n = tree_.children(node).size();
  if (probabilities_.size() < n) probabilities_.resize(n);
  n_evaluations_ += static_cast<int64_t>(n);
  tree_.probabilities(node, x_, normalize_siblings_, probabilities_.data());
  return probabilities_.data();
}

template <class Strategy, class... Wishes>
void OnlineSearch::search(Strategy& strategy, const FeatureRow& row, Wishes... wishes) {
  const float root = start(row);
  strategy.start(OnlineTreeView{&tree_}, node_allowed_, root, wishes...);
  while (strategy.wanted() >= 0) strategy.give(expand(strategy.wanted()));
}

// The strategies begin with the children of the root, which has none while there is at most one label.
bool OnlineSearch::answer_of_root(const FeatureRow& row, float threshold, const float* node_threshold,
                                  std::vector<ScoredLabel>& out) {
  if (!tree_.is_leaf(0)) return false;
  out.clear();
  const float p = start(row);
  const bool allowed = node_allowed_ == nullptr || node_allowed_[0];
  if (tree_.label(0) >= 0 && allowed && p >= (node_threshold != nullptr ? node_threshold[0] : threshold)) {
    out.push_back({p, tree_.label(0)});
  }
  return true;
}

void OnlineSearch::top_k(const FeatureRow& row, int k, float threshold, std::vector<ScoredLabel>& out) {
  if (answer_of_root(row, threshold, nullptr, out)) return;
  if (worth_.label_weight != nullptr) {
    top_k(top_k_by_worth_, beam_by_worth_, worth_, row, k, threshold, out);
  } else {
    top_k(top_k_, beam_, ByProbability{}, row, k, threshold, out);
  }
}

template <class Ranking>
void OnlineSearch::top_k(TopKSearch<OnlineTreeView, Ranking>& exact,
                         BeamSearch<OnlineTreeView, Ranking>& beam, const Ranking& ranking,
                         const FeatureRow& row, int k, float threshold, std::vector<ScoredLabel>& out) {
  if (beam_width_ > 0) {
    search(beam, row, k, beam_width_, threshold, ranking);
    beam.take(out);
  } else {
    search(exact, row, k, threshold, ranking);
    exact.take(out);
  }
}

void OnlineSearch::above(const FeatureRow& row, int64_t k, float threshold, const float* node_threshold,
                         std::vector<ScoredLabel>& out) {
  if (answer_of_root(row, threshold, node_threshold, out)) return;
  search(above_, row, node_threshold, threshold);
  above_.take(out);
  keep_best(k, out);
}

void OnlineSearch::pairs(const FeatureRow& row, const int32_t* labels, int64_t n, float* probabilities) {
  const float root = start(row);
  std::map<int32_t, std::vector<float>> expanded;
  std::vector<int32_t> path;
  for (int64_t i = 0; i < n; ++i) {
    path.clear();
    for (int32_t v = tree_.leaf(labels[i]); v != 0; v = tree_.parent(v)) path.push_back(v);
    // From the root down, as the searches multiply: the same product to the last bit.
    float product = root;
    int32_t parent = 0;
    for (auto v = path.rbegin(); v != path.rend(); ++v) {
      auto& p = expanded[parent];
      const auto& children = tree_.children(parent);
      if (p.empty()) {
        const float* found = expand(parent);
        p.assign(found, found + children.size());
      }
      product *= p[std::find(children.begin(), children.end(), *v) - children.begin()];
      parent = *v;
    }
    probabilities[i] = product;
  }
}

void OnlineSearch::top_k(const OnlineTree& tree, const FeatureMatrix& features, int k, float threshold,
                         const OnlineSearchOptions& options, int32_t* labels, float* probabilities,
                         int64_t* evaluations) {
  for_rows(tree, features, options, [&](int64_t i, const FeatureRow& row, OnlineSearch& search) {
    std::vector<ScoredLabel> found;
    search.top_k(row, k, threshold, found);
    for (int64_t j = 0; j < k; ++j) {
      const bool there = j < static_cast<int64_t>(found.size());
      labels[i * k + j] = there ? found[j].label : -1;
      probabilities[i * k + j] = there ? found[j].probability : 0.0f;
    }
    if (evaluations != nullptr) evaluations[i] = search.n_evaluations();
  });
}

std::vector<std::vector<ScoredLabel>> OnlineSearch::above(const OnlineTree& tree,
                                                          const FeatureMatrix& features, int64_t k,
                                                          float threshold, const float* label_threshold,
                                                          const OnlineSearchOptions& options,
                                                          int64_t* evaluations) {
  std::vector<float> node_threshold;
  if (label_threshold != nullptr) {
    node_threshold = over_subtrees<float>(tree, label_threshold, std::numeric_limits<float>::infinity(),
                                          [](float a, float b) { return std::min(a, b); });
  }
  std::vector<std::vector<ScoredLabel>> result(features.n_rows());
  for_rows(tree, features, options, [&](int64_t i, const FeatureRow& row, OnlineSearch& search) {
    search.above(row, k, threshold, label_threshold != nullptr ? node_threshold.data() : nullptr, result[i]);
    if (evaluations != nullptr) evaluations[i] = search.n_evaluations();
  });
  return result;
}

void OnlineSearch::pairs(const OnlineTree& tree, const FeatureMatrix& features, const int64_t* rows,
                         const int32_t* labels, int64_t n, const OnlineSearchOptions& options,
                         float* probabilities) {
  std::vector<int64_t> starts;  // of runs of one row, so that a row's blocks are expanded once
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || rows[i] != rows[i - 1]) starts.push_back(i);
  }
  starts.push_back(n);
  const int64_t n_runs = static_cast<int64_t>(starts.size()) - 1;
  parallel_ranges(options.n_threads, n_runs, kRowsPerTask, [&](int64_t begin, int64_t end, int) {
    OnlineSearch search(tree, options.normalize_siblings, 0, nullptr);
    FeatureRow row;
    for (int64_t run = begin; run < end; ++run) {
      row.clear();
      features.append_entries(rows[starts[run]], row);
      search.pairs(row, labels + starts[run], starts[run + 1] - starts[run], probabilities + starts[run]);
    }
  });
}

}  // namespace labeltree
