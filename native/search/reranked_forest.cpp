#include "search/reranked_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/copied_rows.h"
#include "core/parallel_for.h"
#include "model/corrupt_model.h"
#include "search/answers.h"

namespace labeltree {

namespace {

constexpr int64_t kRerankedRowsPerTask = 64;
constexpr float kNoScore = -std::numeric_limits<float>::infinity();

// Better first. worth(c) is what labels are ranked by.
template <class Candidates, class Worth>
void sort_candidates(Candidates& candidates, const Worth& worth) {
  std::sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
    const double of_a = worth(a), of_b = worth(b);
    if (of_a != of_b) return of_a > of_b;
    if (a.score != b.score) return a.score > b.score;
    return a.of_trees != b.of_trees ? a.of_trees > b.of_trees : a.label < b.label;
  });
}

// Some rows of a matrix; a copy unless they are all rows.
class RowsOf {
 public:
  RowsOf(const FeatureMatrix& features, const std::vector<int64_t>& rows)
      : features_(features),
        all_(static_cast<int64_t>(rows.size()) == features.n_rows()),
        copied_(features, all_ ? std::vector<int64_t>() : rows) {}
  FeatureMatrix matrix() const { return all_ ? features_ : copied_.matrix(); }

 private:
  const FeatureMatrix& features_;
  bool all_;
  CopiedRows copied_;
};

}  // namespace

RerankedForest::RerankedForest(std::shared_ptr<const Forest> forest,
                               std::shared_ptr<const LabelColumns> labels, LevelMaps map, int64_t n_proposed,
                               float least)
    : forest_(std::move(forest)), labels_(std::move(labels)), map_(std::move(map)), least_(least) {
  if (labels_->n_labels() != n_labels() || labels_->n_features() != n_features() ||
      labels_->dense() != dense()) {
    throw CorruptModel("the trees and the label classifiers differ in their number of labels or features");
  }
  if (map_.empty()) throw CorruptModel("the label classifiers have no map to probabilities");
  map_.check(1);
  if (n_proposed < 1) throw CorruptModel("the trees must propose at least one label");
  n_proposed_ = std::min<int64_t>(n_proposed, n_labels());
}

float RerankedForest::probability(float score) const {
  map_.apply(0, &score, 1);
  return score;
}

template <class Body>
void RerankedForest::for_rows(int64_t n_rows, int n_threads, const Body& body) const {
  parallel_ranges(n_threads, n_rows, kRerankedRowsPerTask, [&](int64_t begin, int64_t end, int) {
    auto scratch = pool_.take(1, [] { return std::make_unique<Scratch>(); });
    for (int64_t row = begin; row < end; ++row) body(row, *scratch[0]);
    pool_.give_back(scratch);
  });
}

RerankedForest::BestOfTrees RerankedForest::ask_trees(const FeatureMatrix& features, const Search& search,
                                                      int64_t k, float threshold, int64_t* evaluations,
                                                      Progress* progress) const {
  BestOfTrees found{k, {}, {}};
  found.labels.resize(features.n_rows() * k);
  found.probabilities.resize(features.n_rows() * k);
  Search wanted = search;
  wanted.k = k;
  wanted.threshold = threshold;  // that of the search is one of the final probabilities
  forest_->top_k(features, wanted, found.labels.data(), found.probabilities.data(), evaluations, progress);
  return found;
}

float RerankedForest::judge(const FeatureMatrix& features, int64_t row, const BestOfTrees& proposals,
                            Scratch& scratch) const {
  scratch.row.set(features, row);
  scratch.candidates.clear();
  float lowest = 1;
  for (int64_t at = row * proposals.k; at < (row + 1) * proposals.k; ++at) {
    const int32_t label = proposals.labels[at];
    if (label < 0) break;
    const float score = labels_->score(scratch.row, label);
    const float p = probability(score);
    scratch.candidates.push_back(
        {p, std::isnan(score) ? kNoScore : score, proposals.probabilities[at], label});
    lowest = std::min(lowest, p);
  }
  return lowest;
}

void RerankedForest::add_other(int32_t label, float of_trees, float lowest, size_t n_proposals,
                               Scratch& scratch) {
  std::vector<Candidate>& candidates = scratch.candidates;
  for (size_t i = 0; i < n_proposals; ++i) {
    if (candidates[i].label == label) return;
  }
  candidates.push_back({std::min(of_trees, lowest), kNoScore, of_trees, label});
}

void RerankedForest::top_k(const FeatureMatrix& features, const Search& search, int32_t* labels,
                           float* probabilities, int64_t* evaluations, Progress* progress) const {
  const BestOfTrees proposals = ask_trees(features, search, n_proposed_, least_, evaluations, progress);
  // The proposals do not depend on k. Rows with fewer than k of them need other labels, too.
  std::vector<int64_t> open, place(features.n_rows(), -1);
  for (int64_t row = 0; row < features.n_rows(); ++row) {
    const bool enough = search.k <= n_proposed_ && proposals.labels[row * n_proposed_ + search.k - 1] >= 0;
    if (search.k == 0 || enough) continue;
    place[row] = static_cast<int64_t>(open.size());
    open.push_back(row);
  }
  BestOfTrees more{0, {}, {}};
  if (!open.empty()) {
    std::vector<int64_t> counts(evaluations != nullptr ? open.size() : 0);
    const RowsOf some(features, open);
    more = ask_trees(some.matrix(), search, search.k, 0, evaluations != nullptr ? counts.data() : nullptr,
                     nullptr);
    for (size_t i = 0; i < counts.size(); ++i) evaluations[open[i]] += counts[i];
  }
  for_rows(features.n_rows(), search.n_threads, [&](int64_t row, Scratch& scratch) {
    const float lowest = judge(features, row, proposals, scratch);
    const size_t n_proposals = scratch.candidates.size();
    for (int64_t at = place[row] * more.k; place[row] >= 0 && at < (place[row] + 1) * more.k; ++at) {
      if (more.labels[at] < 0) break;
      add_other(more.labels[at], more.probabilities[at], lowest, n_proposals, scratch);
    }
    std::vector<Candidate>& candidates = scratch.candidates;
    if (evaluations != nullptr) evaluations[row] += static_cast<int64_t>(n_proposals);
    std::erase_if(candidates, [&](const Candidate& c) { return c.probability < search.threshold; });
    if (search.label_weight == nullptr) {
      sort_candidates(candidates, [](const Candidate& c) { return c.probability; });
    } else {
      sort_candidates(candidates,
                      [&](const Candidate& c) { return search.label_weight[c.label] * c.probability; });
    }
    for (int64_t j = 0; j < search.k; ++j) {
      const bool there = j < static_cast<int64_t>(candidates.size());
      labels[row * search.k + j] = there ? candidates[j].label : -1;
      probabilities[row * search.k + j] = there ? candidates[j].probability : 0.0f;
    }
  });
}

std::vector<std::vector<ScoredLabel>> RerankedForest::above(const FeatureMatrix& features,
                                                            const Search& search,
                                                            int64_t* evaluations) const {
  const float least = search.label_threshold == nullptr
                          ? search.threshold
                          : *std::min_element(search.label_threshold, search.label_threshold + n_labels());
  Search proposing = search;
  proposing.label_weight = nullptr;  // of top_k() only
  const BestOfTrees found = ask_trees(features, proposing, n_proposed_, least_, evaluations, nullptr);
  // Rows that may have labels above their threshold beyond the proposals.
  std::vector<float> lowest(features.n_rows());
  for_rows(features.n_rows(), search.n_threads, [&](int64_t row, Scratch& scratch) {
    lowest[row] = judge(features, row, found, scratch);
    if (evaluations != nullptr) evaluations[row] += static_cast<int64_t>(scratch.candidates.size());
  });
  std::vector<int64_t> open;
  for (int64_t row = 0; row < features.n_rows(); ++row) {
    if (lowest[row] >= least) open.push_back(row);
  }
  Search of_others = search;
  // With thresholds per label, the best of these may be below theirs once they are no more than `lowest`.
  const bool is_one = search.label_threshold == nullptr;
  of_others.k = is_one ? std::min<int64_t>(search.k + n_proposed_, n_labels()) : n_labels();
  std::vector<std::vector<ScoredLabel>> others(features.n_rows());
  if (!open.empty()) {
    const RowsOf some(features, open);
    std::vector<int64_t> counts(evaluations != nullptr ? open.size() : 0);
    auto answers = forest_->above(some.matrix(), of_others, evaluations != nullptr ? counts.data() : nullptr);
    for (size_t i = 0; i < open.size(); ++i) {
      others[open[i]] = std::move(answers[i]);
      if (evaluations != nullptr) evaluations[open[i]] += counts[i];
    }
  }
  std::vector<std::vector<ScoredLabel>> result(features.n_rows());
  for_rows(features.n_rows(), search.n_threads, [&](int64_t row, Scratch& scratch) {
    judge(features, row, found, scratch);
    std::vector<Candidate>& candidates = scratch.candidates;
    const size_t n_proposals = candidates.size();
    for (const ScoredLabel& other : others[row]) {
      add_other(other.label, other.probability, lowest[row], n_proposals, scratch);
    }
    std::erase_if(candidates,
                  [&](const Candidate& c) { return c.probability < search.threshold_of(c.label); });
    sort_candidates(candidates, [](const Candidate& c) { return c.probability; });
    if (static_cast<int64_t>(candidates.size()) > search.k) candidates.resize(search.k);
    for (const Candidate& c : candidates) result[row].push_back({c.probability, c.label});
  });
  return result;
}

void RerankedForest::pairs(const FeatureMatrix& features, const int64_t* rows, const int32_t* labels,
                           int64_t n, const Search& search, float* probabilities) const {
  const std::vector<int64_t> starts = run_starts(rows, n);
  std::vector<int64_t> asked;
  for (size_t i = 0; i + 1 < starts.size(); ++i) asked.push_back(rows[starts[i]]);
  const RowsOf copied(features, asked);
  const FeatureMatrix some = copied.matrix();
  Search proposing = search;
  proposing.label_weight = nullptr;
  proposing.allowed = nullptr;
  const BestOfTrees found = ask_trees(some, proposing, n_proposed_, least_, nullptr, nullptr);
  std::vector<uint8_t> is_other(n, 0);
  std::vector<float> lowest(asked.size());
  for_rows(some.n_rows(), search.n_threads, [&](int64_t i, Scratch& scratch) {
    lowest[i] = judge(some, i, found, scratch);
    const std::vector<Candidate>& candidates = scratch.candidates;
    for (int64_t k = starts[i]; k < starts[i + 1]; ++k) {
      const auto there = std::find_if(candidates.begin(), candidates.end(),
                                      [&](const Candidate& c) { return c.label == labels[k]; });
      if (there == candidates.end()) {
        is_other[k] = 1;
      } else {
        probabilities[k] = there->probability;
      }
    }
  });
  std::vector<int64_t> other_rows;
  std::vector<int32_t> other_labels;
  for (int64_t k = 0; k < n; ++k) {
    if (is_other[k] == 0) continue;
    other_rows.push_back(rows[k]);
    other_labels.push_back(labels[k]);
  }
  if (other_rows.empty()) return;
  std::vector<float> of_trees(other_rows.size());
  forest_->pairs(features, other_rows.data(), other_labels.data(), static_cast<int64_t>(other_rows.size()),
                 search, of_trees.data());
  size_t next = 0;
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    for (int64_t k = starts[i]; k < starts[i + 1]; ++k) {
      if (is_other[k] != 0) probabilities[k] = std::min(of_trees[next++], lowest[i]);
    }
  }
}

}  // namespace labeltree
