#include "rivals/fastxml/example_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/parallel_for.h"
#include "model/corrupt_model.h"
#include "rivals/fastxml/label_means.h"
#include "search/answers.h"

namespace labeltree {

namespace {

constexpr int64_t kForestRowsPerTask = 64;
// A mean with this many times the features of a row is searched by bisection, not scanned.
constexpr int64_t kSearchFrom = 8;
// From here on log(1 + exp(x)) is x, to the last digit.
constexpr double kFar = 40;

void check_offsets(const Span<int64_t>& offsets, int64_t n, int64_t last, const char* name) {
  if (offsets.size != n + 1) corrupt(std::string(name) + " has the wrong length");
  if (offsets[0] != 0 || offsets[n] != last) corrupt(std::string(name) + " does not span its array");
  for (int64_t i = 0; i < n; ++i) {
    if (offsets[i] > offsets[i + 1]) corrupt(std::string(name) + " decreases at " + std::to_string(i));
  }
}

// Of sparse entries; the index is that of a feature or a label.
void check_index(int32_t index, int64_t n, const char* what) {
  if (index < 0 || index >= n) corrupt(std::string(what) + " is out of range");
}

bool is_probability(float p) { return p >= 0 && p <= 1; }

}  // namespace

ExampleForest::ExampleForest(const ExampleTreeViews& trees, const LabelMeanViews& means, int32_t n_labels,
                             int64_t n_features)
    : trees_(trees), means_(means), n_labels_(n_labels), n_features_(n_features) {
  if (n_features < 1 || n_features > std::numeric_limits<int32_t>::max()) {
    corrupt("the number of features is out of range");
  }
  const int64_t n_nodes = trees_.child.size, n_trees = trees_.tree_begin.size - 1;
  if (n_trees < 1) corrupt("a model needs at least one tree");
  if (trees_.bias.size != n_nodes) corrupt("the number of biases is not the number of nodes");
  if (trees_.feature.size != trees_.weight.size) corrupt("there are not as many features as weights");
  if (trees_.label.size != trees_.probability.size) corrupt("there are not as many labels as probabilities");
  check_offsets(trees_.tree_begin, n_trees, n_nodes, "tree_begin");
  check_offsets(trees_.weight_begin, n_nodes, trees_.weight.size, "weight_begin");
  check_offsets(trees_.pair_begin, n_nodes, trees_.label.size, "pair_begin");
  for (int64_t t = 0; t < n_trees; ++t) {
    int64_t next = trees_.tree_begin[t] + 1;  // children come in the order of their parents
    for (int64_t v = trees_.tree_begin[t]; v < trees_.tree_begin[t + 1]; ++v) {
      if (v >= next) corrupt("node " + std::to_string(v) + " is nobody's child");
      if (trees_.child[v] == 0) continue;
      if (trees_.child[v] != next) corrupt("node " + std::to_string(v) + " is not numbered breadth first");
      next += 2;
    }
    if (next != trees_.tree_begin[t + 1]) corrupt("tree " + std::to_string(t) + " lacks nodes");
  }
  if (means_.begin.size == 0) return;
  if (means_.feature.size != means_.value.size) corrupt("there are not as many features as values");
  if (means_.square.size != n_labels) corrupt("square has the wrong length");
  check_offsets(means_.begin, n_labels, means_.value.size, "mean_begin");
}

void ExampleForest::verify() const {
  for (int64_t k = 0; k < trees_.feature.size; ++k) {
    check_index(trees_.feature[k], n_features_, "the feature of a separator");
    if (!std::isfinite(trees_.weight[k])) corrupt("a weight is not finite");
  }
  for (int64_t k = 0; k < trees_.label.size; ++k) {
    check_index(trees_.label[k], n_labels_, "the label of a leaf");
    if (!is_probability(trees_.probability[k])) corrupt("a leaf has something that is no probability");
  }
  for (int64_t v = 0; v < trees_.bias.size; ++v) {
    if (!std::isfinite(trees_.bias[v])) corrupt("a bias is not finite");
  }
  for (int64_t k = 0; k < means_.feature.size; ++k) {
    check_index(means_.feature[k], n_features_, "the feature of a mean");
    if (!std::isfinite(means_.value[k])) corrupt("the mean of a label is not finite");
  }
  for (int64_t j = 0; j < means_.square.size; ++j) {
    if (!std::isfinite(means_.square[j])) corrupt("the mean of a label is not finite");
  }
}

// A Scratch from the pool for as long as this lives.
class ExampleForest::Lease {
 public:
  explicit Lease(const ExampleForest& forest)
      : pool_(forest.pool_),
        scratch_(
            pool_.take(1, [&] { return std::make_unique<Scratch>(forest.n_features_, forest.n_labels_); })) {}
  ~Lease() {
    if (is_clean_) pool_.give_back(scratch_);  // else a row was left half done: it is not fit for another
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  template <class Body>
  void use(const Body& body) {
    Scratch& scratch = *scratch_[0];
    is_clean_ = false;
    body(scratch);
    for (const int32_t feature : scratch.row.index) scratch.value[feature] = 0;
    for (const ScoredLabel& s : scratch.voted) scratch.sum[s.label] = 0;
    is_clean_ = true;
  }

 private:
  Pool<Scratch>& pool_;
  Pool<Scratch>::Items scratch_;
  bool is_clean_ = true;
};

template <class Body>
void ExampleForest::for_rows(int64_t n_rows, int n_threads, const Body& body) const {
  parallel_ranges(n_threads, n_rows, kForestRowsPerTask, [&](int64_t begin, int64_t end, int) {
    Lease lease(*this);
    for (int64_t row = begin; row < end; ++row) {
      stop_if_interrupted();
      lease.use([&](Scratch& scratch) { body(row, scratch); });
    }
  });
}

int64_t ExampleForest::leaf_of(int64_t tree, Scratch& scratch) const {
  int64_t v = trees_.tree_begin[tree];
  while (trees_.child[v] != 0) {
    double score = trees_.bias[v];
    for (int64_t k = trees_.weight_begin[v]; k < trees_.weight_begin[v + 1]; ++k) {
      check_index(trees_.feature[k], n_features_, "the feature of a separator");
      score += static_cast<double>(trees_.weight[k]) * scratch.value[trees_.feature[k]];
    }
    ++scratch.n_evaluations;
    v = trees_.child[v] + (score >= 0);
  }
  return v;
}

void ExampleForest::vote(const FeatureMatrix& features, int64_t row, Scratch& scratch) const {
  scratch.row.clear();
  scratch.voted.clear();
  scratch.n_evaluations = 0;
  features.append_entries(row, scratch.row);
  for (size_t k = 0; k < scratch.row.index.size(); ++k) {
    scratch.value[scratch.row.index[k]] = scratch.row.value[k];
  }
  const int64_t n_trees = trees_.tree_begin.size - 1;
  for (int64_t t = 0; t < n_trees; ++t) {
    const int64_t leaf = leaf_of(t, scratch);
    for (int64_t k = trees_.pair_begin[leaf]; k < trees_.pair_begin[leaf + 1]; ++k) {
      check_index(trees_.label[k], n_labels_, "the label of a leaf");
      const float p = trees_.probability[k];
      if (!is_probability(p)) corrupt("a leaf has something that is no probability");
      if (p == 0) continue;
      double& sum = scratch.sum[trees_.label[k]];
      if (sum == 0) scratch.voted.push_back({0, trees_.label[k]});
      sum += p;
    }
  }
  double square = 0;
  for (const float value : scratch.row.value) square += static_cast<double>(value) * value;
  for (ScoredLabel& s : scratch.voted) {
    double p = scratch.sum[s.label] / static_cast<double>(n_trees);
    if (means_.begin.size > 0) {
      const double tail = 1 - means_.alpha;
      const double score = means_.alpha * std::log(p) + tail * log_nearness(s.label, scratch, square);
      p = std::exp(score / (1 + tail * means_.gamma));
    }
    s.probability = static_cast<float>(std::min(p, 1.0));
  }
}

double ExampleForest::log_nearness(int32_t label, const Scratch& scratch, double square) const {
  const int64_t begin = means_.begin[label], end = means_.begin[label + 1];
  double product = 0;
  if (end - begin > kSearchFrom * static_cast<int64_t>(scratch.row.index.size())) {
    const int32_t* first = means_.feature.data + begin;
    const int32_t* last = means_.feature.data + end;
    for (size_t k = 0; k < scratch.row.index.size(); ++k) {
      const int32_t* found = std::lower_bound(first, last, scratch.row.index[k]);
      if (found == last || *found != scratch.row.index[k]) continue;
      product += static_cast<double>(means_.value[found - means_.feature.data]) * scratch.row.value[k];
    }
  } else {
    for (int64_t k = begin; k < end; ++k) {
      check_index(means_.feature[k], n_features_, "the feature of a mean");
      product += static_cast<double>(means_.value[k]) * scratch.value[means_.feature[k]];
    }
  }
  // The row is scaled to unit length here, whether or not the matrix did so.
  const double length = std::sqrt(square);
  const double of_unit = square > 0 ? product / length : 0;
  const double distance = std::max(means_.square[label] + (square > 0 ? 1 : 0) - 2 * of_unit, 0.0);
  if (!std::isfinite(distance)) corrupt("the mean of a label is not finite");
  const double far = means_.gamma * distance;
  return far < kFar ? -std::log1p(std::exp(far)) : -far;
}

template <class Ranking>
void ExampleForest::choose(const Search& search, const Ranking& ranking, Scratch& scratch) const {
  std::vector<ScoredLabel>& chosen = scratch.chosen;
  chosen.clear();
  for (const ScoredLabel& s : scratch.voted) {
    if (s.probability >= search.threshold && search.allows(s.label)) chosen.push_back(s);
  }
  if (search.threshold <= 0 && static_cast<int64_t>(chosen.size()) < search.k) {
    // All that are worth nothing come in the order of labels, whether a tree speaks of them or not.
    int64_t n_missing = search.k;
    for (const ScoredLabel& s : chosen) n_missing -= ranking.value(s) > 0;
    for (int32_t label = 0; label < n_labels_ && n_missing > 0; ++label) {
      if (!search.allows(label)) continue;
      if (scratch.sum[label] == 0) {
        chosen.push_back({0, label});
        --n_missing;
      } else if (search.label_weight != nullptr && search.label_weight[label] == 0) {
        --n_missing;
      }
    }
  }
  keep_best(search.k, chosen, ranking);
}

void ExampleForest::top_k(const FeatureMatrix& features, const Search& search, int32_t* labels,
                          float* probabilities, int64_t* evaluations, Progress* progress) const {
  if (progress != nullptr) progress->start(features.n_rows());
  for_rows(features.n_rows(), search.n_threads, [&](int64_t row, Scratch& scratch) {
    if (progress != nullptr) {
      progress->check();
      progress->advance(1);
    }
    vote(features, row, scratch);
    if (search.label_weight == nullptr) {
      choose(search, ByProbability{}, scratch);
    } else {
      choose(search, ByWorth{search.label_weight, nullptr}, scratch);
    }
    write_ranked(scratch.chosen, search.k, labels + row * search.k, probabilities + row * search.k);
    if (evaluations != nullptr) evaluations[row] = scratch.n_evaluations;
  });
}

std::vector<std::vector<ScoredLabel>> ExampleForest::above(const FeatureMatrix& features,
                                                           const Search& search, int64_t* evaluations) const {
  std::vector<std::vector<ScoredLabel>> result(features.n_rows());
  for_rows(features.n_rows(), search.n_threads, [&](int64_t row, Scratch& scratch) {
    vote(features, row, scratch);
    for (const ScoredLabel& s : scratch.voted) {
      if (s.probability > 0 && s.probability >= search.threshold_of(s.label) && search.allows(s.label)) {
        result[row].push_back(s);
      }
    }
    keep_best(search.k, result[row]);
    if (evaluations != nullptr) evaluations[row] = scratch.n_evaluations;
  });
  return result;
}

void ExampleForest::pairs(const FeatureMatrix& features, const int64_t* rows, const int32_t* labels,
                          int64_t n, const Search& search, float* probabilities) const {
  const std::vector<int64_t> starts = run_starts(rows, n);
  for_rows(static_cast<int64_t>(starts.size()) - 1, search.n_threads, [&](int64_t run, Scratch& scratch) {
    vote(features, rows[starts[run]], scratch);
    std::sort(scratch.voted.begin(), scratch.voted.end(),
              [](const ScoredLabel& a, const ScoredLabel& b) { return a.label < b.label; });
    for (int64_t i = starts[run]; i < starts[run + 1]; ++i) {
      const auto found =
          std::lower_bound(scratch.voted.begin(), scratch.voted.end(), labels[i],
                           [](const ScoredLabel& s, int32_t label) { return s.label < label; });
      const bool there = found != scratch.voted.end() && found->label == labels[i];
      probabilities[i] = there ? found->probability : 0.0f;
    }
  });
}

std::vector<ScoredLabel> ExampleForest::ranked(const FeatureMatrix& features, int64_t row,
                                               const Search& search) const {
  Search all = search;
  all.k = n_labels_;
  all.threshold = 0;
  all.label_weight = nullptr;
  std::vector<ScoredLabel> labels;
  Lease(*this).use([&](Scratch& scratch) {
    vote(features, row, scratch);
    choose(all, ByProbability{}, scratch);
    labels = scratch.chosen;
  });
  return labels;
}

}  // namespace labeltree
