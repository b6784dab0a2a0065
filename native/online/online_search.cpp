#include "online/online_search.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/parallel_for.h"
#include "search/answers.h"

namespace labeltree {

namespace {

constexpr int64_t kOnlineRowsPerTask = 16;

std::vector<uint8_t> allowed_nodes(const OnlineTree& tree, const Search& search) {
  if (search.allowed == nullptr) return {};
  return over_subtrees<uint8_t>(tree, search.allowed, 0,
                                [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
}

std::vector<double> node_weights(const OnlineTree& tree, const Search& search) {
  if (search.label_weight == nullptr) return {};
  return over_subtrees<double>(tree, search.label_weight, 0.0,
                               [](double a, double b) { return std::max(a, b); });
}

std::vector<float> node_thresholds(const OnlineTree& tree, const Search& search) {
  if (search.label_threshold == nullptr) return {};
  return over_subtrees<float>(tree, search.label_threshold, std::numeric_limits<float>::infinity(),
                              [](float a, float b) { return std::min(a, b); });
}

// Null where there are no values.
template <class T>
const T* data_of(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

// Calls body(row number, row, asker) for all rows.
template <class Body>
void for_rows(const OnlineTree& tree, const FeatureMatrix& features, const Search& search, const Body& body) {
  const std::vector<uint8_t> allowed = allowed_nodes(tree, search);
  const std::vector<double> node_weight = node_weights(tree, search);
  parallel_ranges(search.n_threads, features.n_rows(), kOnlineRowsPerTask,
                  [&](int64_t begin, int64_t end, int) {
                    OnlineSearch asker(tree, search, data_of(allowed), data_of(node_weight));
                    FeatureRow row;
                    for (int64_t i = begin; i < end; ++i) {
                      stop_if_interrupted();
                      row.clear();
                      features.append_entries(i, row);
                      body(i, row, asker);
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
  tree_.probabilities(node, x_, search_.normalize_siblings, probabilities_.data());
  return probabilities_.data();
}

template <class Strategy, class... Wishes>
void OnlineSearch::search(Strategy& strategy, const FeatureRow& row, Wishes... wishes) {
  const float root = start(row);
  strategy.start(OnlineTreeView{&tree_}, node_allowed_, root, wishes...);
  while (strategy.wanted() >= 0) strategy.give(expand(strategy.wanted()));
}

// The strategies begin with the children of the root, which has none while there is at most one label.
bool OnlineSearch::answer_of_root(const FeatureRow& row, const float* node_threshold,
                                  std::vector<ScoredLabel>& out) {
  if (!tree_.is_leaf(0)) return false;
  out.clear();
  const float p = start(row);
  const bool allowed = node_allowed_ == nullptr || node_allowed_[0];
  const float threshold = node_threshold != nullptr ? node_threshold[0] : search_.threshold;
  if (tree_.label(0) >= 0 && allowed && p >= threshold) {
    out.push_back({p, tree_.label(0)});
  }
  return true;
}

void OnlineSearch::top_k(const FeatureRow& row, std::vector<ScoredLabel>& out) {
  if (answer_of_root(row, nullptr, out)) return;
  if (worth_.label_weight != nullptr) {
    top_k(top_k_by_worth_, beam_by_worth_, worth_, row, out);
  } else {
    top_k(top_k_, beam_, ByProbability{}, row, out);
  }
}

template <class Ranking>
void OnlineSearch::top_k(TopKSearch<OnlineTreeView, Ranking>& exact,
                         BeamSearch<OnlineTreeView, Ranking>& beam, const Ranking& ranking,
                         const FeatureRow& row, std::vector<ScoredLabel>& out) {
  if (search_.beam > 0) {
    search(beam, row, search_.k, search_.beam, search_.threshold, ranking);
    beam.take(out);
  } else {
    search(exact, row, search_.k, search_.threshold, ranking);
    exact.take(out);
  }
}

void OnlineSearch::above(const FeatureRow& row, const float* node_threshold, std::vector<ScoredLabel>& out) {
  if (answer_of_root(row, node_threshold, out)) return;
  search(above_, row, node_threshold, search_.threshold);
  above_.take(out);
  keep_best(search_.k, out);
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

void OnlineSearch::top_k(const OnlineTree& tree, const FeatureMatrix& features, const Search& search,
                         int32_t* labels, float* probabilities, int64_t* evaluations, Progress* progress) {
  if (progress != nullptr) progress->start(features.n_rows());
  for_rows(tree, features, search, [&](int64_t i, const FeatureRow& row, OnlineSearch& asker) {
    if (progress != nullptr) {
      progress->check();
      progress->advance(1);
    }
    std::vector<ScoredLabel> found;
    asker.top_k(row, found);
    write_ranked(found, search.k, labels + i * search.k, probabilities + i * search.k);
    if (evaluations != nullptr) evaluations[i] = asker.n_evaluations();
  });
}

std::vector<std::vector<ScoredLabel>> OnlineSearch::above(const OnlineTree& tree,
                                                          const FeatureMatrix& features, const Search& search,
                                                          int64_t* evaluations) {
  const std::vector<float> node_threshold = node_thresholds(tree, search);
  std::vector<std::vector<ScoredLabel>> result(features.n_rows());
  for_rows(tree, features, search, [&](int64_t i, const FeatureRow& row, OnlineSearch& asker) {
    asker.above(row, data_of(node_threshold), result[i]);
    if (evaluations != nullptr) evaluations[i] = asker.n_evaluations();
  });
  return result;
}

void OnlineSearch::pairs(const OnlineTree& tree, const FeatureMatrix& features, const int64_t* rows,
                         const int32_t* labels, int64_t n, const Search& search, float* probabilities) {
  const std::vector<int64_t> starts = run_starts(rows, n);  // so that a row's blocks are expanded once
  const int64_t n_runs = static_cast<int64_t>(starts.size()) - 1;
  parallel_ranges(search.n_threads, n_runs, kOnlineRowsPerTask, [&](int64_t begin, int64_t end, int) {
    OnlineSearch asker(tree, search);
    FeatureRow row;
    for (int64_t run = begin; run < end; ++run) {
      stop_if_interrupted();
      row.clear();
      features.append_entries(rows[starts[run]], row);
      asker.pairs(row, labels + starts[run], starts[run + 1] - starts[run], probabilities + starts[run]);
    }
  });
}

std::vector<ScoredLabel> OnlineSearch::ranked(const OnlineTree& tree, const FeatureMatrix& features,
                                              int64_t row, const Search& search) {
  Search all = search;
  all.k = tree.n_labels();
  all.threshold = 0;
  const std::vector<uint8_t> allowed = allowed_nodes(tree, search);
  FeatureRow query;
  features.append_entries(row, query);
  std::vector<ScoredLabel> found;
  OnlineSearch(tree, all, data_of(allowed)).above(query, nullptr, found);
  return found;
}

}  // namespace labeltree
