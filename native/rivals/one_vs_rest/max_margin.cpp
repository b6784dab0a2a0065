#include "rivals/one_vs_rest/max_margin.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "core/parallel_for.h"
#include "core/random.h"
#include "rivals/one_vs_rest/margin_round.h"
#include "training/label_scores.h"
#include "training/local_block.h"
#include "training/shrunk_weights.h"

namespace labeltree {

namespace {

// How many examples see the same weights and then step together: few of all, for steps that know each other
// only roughly take more passes. It depends on nothing else, least of all on the number of threads.
int64_t round_size(size_t n_examples) { return std::clamp<int64_t>(n_examples / 200, 4, 64); }

constexpr int64_t kExamplesPerWorker = 4;
// An example whose part of the duality gap is below this share of what it may be rests.
constexpr double kRestingShare = 0.1;
// How many features ahead the memory of sums is asked for.
constexpr int64_t kFeaturesAhead = 4;

// What the labels of an example lack.
struct Violation {
  int32_t negative;      // the label with the highest score that it should not have
  float negative_score;  // of that
  float loss;
  double gap;  // the example's part of the duality gap
};

class MaxMargin {
 public:
  MaxMargin(int32_t n_labels, const MaxMarginOptions& options, Progress& progress, MaxMarginReport& report)
      : n_labels_(n_labels), options_(options), progress_(progress), report_(report), round_(n_labels) {}

  void read(const Examples& given);
  void solve();
  BlockArrays result(const FeatureRange& dense);

 private:
  // Per worker.
  struct Scratch {
    LabelScores scores;
    std::vector<uint8_t> is_excluded;  // per label: not learned, or a label of the current example

    Scratch(int32_t n_labels, const std::vector<uint8_t>& is_certain)
        : scores(n_labels), is_excluded(is_certain) {}
  };

  int64_t n_examples() const { return static_cast<int64_t>(examples_.size()); }
  void multiply_rows();
  void find_certain_labels(const LabelMatrixView& labels);
  double pass();
  template <class Visit>
  void visit_rounds(const Visit& visit);
  Violation find_violation(int64_t e, Scratch& scratch) const;
  int32_t unscored_negative(int64_t e, const Scratch& scratch) const;
  void activate(const Violation& violation, MarginExample& example, const LabelScores& scores) const;
  void step(int64_t begin, int64_t n);
  void add_steps(int64_t e, int32_t share);
  void measure();

  const int32_t n_labels_;
  const MaxMarginOptions& options_;
  Progress& progress_;
  MaxMarginReport& report_;

  std::vector<uint8_t> is_certain_;
  std::vector<float> bias_;
  std::vector<MarginExample> examples_;
  LocalBlock rows_;                         // of the examples
  std::unique_ptr<ShrunkWeights> weights_;  // of local features
  std::vector<float> products_;
  int64_t round_size_ = 0;
  std::vector<int64_t> rounds_;  // the first example of each
  std::vector<double> gap_;      // per example of a round
  int n_workers_ = 1;
  std::vector<Scratch> scratch_;  // per worker
  MarginRound round_;
};

// Labels that no row or every row has are no part of the problem.
void MaxMargin::find_certain_labels(const LabelMatrixView& labels) {
  std::vector<int64_t> n_rows(n_labels_, 0);
  for (int64_t k = labels.indptr[0]; k < labels.indptr[labels.n_rows]; ++k) ++n_rows[labels.indices[k]];
  bias_.assign(n_labels_ + 1, 0.0f);
  bias_[0] = kCertainScore;
  is_certain_.assign(n_labels_, 0);
  report_.n_constant = 1;  // the root
  for (int32_t label = 0; label < n_labels_; ++label) {
    if (n_rows[label] > 0 && n_rows[label] < labels.n_rows) continue;
    is_certain_[label] = 1;
    bias_[label + 1] = n_rows[label] > 0 ? kCertainScore : -kCertainScore;
    ++report_.n_constant;
  }
  report_.n_columns = n_labels_ + 1 - report_.n_constant;
}

void MaxMargin::read(const Examples& given) {
  const FeatureMatrix& features = given.features;
  const LabelMatrixView& labels = given.labels;
  find_certain_labels(labels);
  std::vector<int32_t> rows;
  std::vector<MarginExample> examples;
  for (int64_t i = 0; i < labels.n_rows; ++i) {
    MarginExample example;
    for (int64_t k = labels.indptr[i]; k < labels.indptr[i + 1]; ++k) {
      if (!is_certain_[labels.indices[k]]) example.positive.push_back(labels.indices[k]);
    }
    example.cost = std::min(options_.C * given.weight(i), 1e10f);
    // Without a label of either kind there is no margin.
    const auto n_positive = static_cast<int64_t>(example.positive.size());
    if (n_positive == 0 || n_positive == report_.n_columns || !(example.cost > 0)) continue;
    rows.push_back(static_cast<int32_t>(i));
    examples.push_back(std::move(example));
  }
  // Examples that are in a round together stay so: their products are needed again and again.
  std::vector<int32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  Random(options_.seed).shuffle(order.data(), static_cast<uint32_t>(order.size()));
  for (int32_t& i : order) {
    examples_.push_back(std::move(examples[i]));
    i = rows[i];
  }
  round_size_ = round_size(examples_.size());
  LocalBlockMaker maker(features.n_features());
  rows_ = maker.make(features, order.data(), n_examples(), options_.bias, progress_, true);
  weights_ = std::make_unique<ShrunkWeights>(rows_.n_features(), n_labels_, options_.l1);
}

// Products of the rows of every round, which also tell their lengths.
void MaxMargin::multiply_rows() {
  products_.resize(n_examples() * round_size_);
  const int64_t n_rounds = (n_examples() + round_size_ - 1) / round_size_;
  std::vector<std::vector<float>> dense(std::max(options_.n_threads, 1));
  parallel_for(options_.n_threads, n_rounds, [&](int64_t round, int worker) {
    progress_.check();
    std::vector<float>& row = dense[worker];
    row.resize(rows_.n_features(), 0.0f);
    const int64_t begin = round * round_size_, n = std::min(round_size_, n_examples() - begin);
    float* products = products_.data() + begin * round_size_;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = rows_.row_begin[begin + i]; k < rows_.row_begin[begin + i + 1]; ++k) {
        row[rows_.index[k]] = rows_.value[k];
      }
      for (int64_t j = 0; j <= i; ++j) {
        float product = 0;
        for (int64_t k = rows_.row_begin[begin + j]; k < rows_.row_begin[begin + j + 1]; ++k) {
          product += row[rows_.index[k]] * rows_.value[k];
        }
        products[i * n + j] = products[j * n + i] = product;
      }
      for (int64_t k = rows_.row_begin[begin + i]; k < rows_.row_begin[begin + i + 1]; ++k) {
        row[rows_.index[k]] = 0;
      }
      // A row without features has its loss, whatever the weights are.
      if (!(products[i * n + i] > 0)) examples_[begin + i].cost = 0;
    }
  });
}

void MaxMargin::solve() {
  multiply_rows();
  gap_.resize(round_size_);
  // A thread lives for one round, and needs enough to do.
  n_workers_ =
      std::clamp(static_cast<int>(round_size_ / kExamplesPerWorker), 1, std::max(options_.n_threads, 1));
  for (int worker = 0; worker < n_workers_; ++worker) scratch_.emplace_back(n_labels_, is_certain_);
  for (int64_t begin = 0; begin < n_examples(); begin += round_size_) rounds_.push_back(begin);
  progress_.start(n_examples() * (int64_t{options_.max_iter} + 1));
  double total_cost = 0;
  for (const MarginExample& example : examples_) total_cost += example.cost;
  Random random(options_.seed);
  bool converged = examples_.empty();
  while (!converged && report_.n_passes < options_.max_iter) {
    random.shuffle(rounds_.data(), static_cast<uint32_t>(rounds_.size()));
    ++report_.n_passes;
    converged = pass() <= options_.tol * total_cost;
  }
  report_.n_unconverged = !converged;
  measure();
}

// Calls visit(begin, n) for every round.
template <class Visit>
void MaxMargin::visit_rounds(const Visit& visit) {
  for (const int64_t begin : rounds_) {
    progress_.check();
    const int64_t n = std::min(round_size_, n_examples() - begin);
    visit(begin, n);
    progress_.advance(n);
  }
}

// Returns the duality gap, as far as it can be told while the weights change.
double MaxMargin::pass() {
  double gap = 0;
  visit_rounds([&](int64_t begin, int64_t n) {
    parallel_for(n_workers_, n, [&](int64_t i, int worker) {
      const Violation found = find_violation(begin + i, scratch_[worker]);
      activate(found, examples_[begin + i], scratch_[worker].scores);
      gap_[i] = found.gap;
    });
    for (int64_t i = 0; i < n; ++i) gap += gap_[i];
    step(begin, n);
    report_.n_row_visits += n;
  });
  return gap;
}

// Scores all labels that have a weight for a feature of the example.
Violation MaxMargin::find_violation(int64_t e, Scratch& scratch) const {
  const MarginExample& example = examples_[e];
  LabelScores& scores = scratch.scores;
  scores.start();
  for (int64_t k = rows_.row_begin[e]; k < rows_.row_begin[e + 1]; ++k) {
    weights_->add_scores(rows_.index[k], rows_.value[k], scores);
  }
  float lowest = std::numeric_limits<float>::infinity();
  for (const int32_t label : example.positive) {
    scratch.is_excluded[label] = 1;
    lowest = std::min(lowest, scores[label]);
  }
  Violation found{-1, -std::numeric_limits<float>::infinity(), 0, 0};
  int64_t n_scored = 0;
  scores.visit_scored([&](int32_t label, float score) {
    if (scratch.is_excluded[label]) return;
    ++n_scored;
    if (score < found.negative_score || (score == found.negative_score && label > found.negative)) return;
    found.negative = label;
    found.negative_score = score;
  });
  const int64_t n_negative = report_.n_columns - static_cast<int64_t>(example.positive.size());
  if (found.negative_score < 0 && n_scored < n_negative) {
    found.negative = unscored_negative(e, scratch);
    found.negative_score = 0;
  }
  for (const int32_t label : example.positive) scratch.is_excluded[label] = 0;
  found.loss = std::max(0.0f, 1 + found.negative_score - lowest);
  found.gap = static_cast<double>(example.cost) * found.loss;
  for (const ActiveLabel& active : example.active) {
    const double score = scores[active.label];
    found.gap += active.strength * (active.is_positive ? score - 1 : -score);
  }
  return found;
}

// One of many with the score 0: any will do, if only not the same one for all examples.
int32_t MaxMargin::unscored_negative(int64_t e, const Scratch& scratch) const {
  const uint64_t number = static_cast<uint64_t>(report_.n_passes) * examples_.size() + e;
  auto label = static_cast<int32_t>(mix_seed(options_.seed, number) % n_labels_);
  while (scratch.is_excluded[label] || scratch.scores.is_scored(label)) {
    label = label + 1 == n_labels_ ? 0 : label + 1;
  }
  return label;
}

void MaxMargin::activate(const Violation& violation, MarginExample& example,
                         const LabelScores& scores) const {
  const auto add = [&](int32_t label, bool is_positive) {
    const auto is_same = [&](const ActiveLabel& active) { return active.label == label; };
    if (std::any_of(example.active.begin(), example.active.end(), is_same)) return;
    example.active.push_back({label, is_positive});
  };
  example.is_resting = violation.gap <= kRestingShare * options_.tol * example.cost;
  if (example.is_resting) return;
  if (violation.loss > 0) {
    add(violation.negative, false);
    for (const int32_t label : example.positive) {
      if (1 + violation.negative_score > scores[label]) add(label, true);
    }
  }
  for (ActiveLabel& active : example.active) active.score = scores[active.label];
}

void MaxMargin::step(int64_t begin, int64_t n) {
  round_.step(examples_.data() + begin, n, products_.data() + begin * round_size_);
  // Every feature belongs to one worker, so that its sums are added up in the order of the examples.
  parallel_for(n_workers_, n_workers_, [&](int64_t share, int) {
    for (int64_t e = begin; e < begin + n; ++e) {
      if (!examples_[e].is_resting) add_steps(e, static_cast<int32_t>(share));
    }
  });
  for (int64_t e = begin; e < begin + n; ++e) {
    std::erase_if(examples_[e].active, [](const ActiveLabel& active) { return active.strength == 0; });
  }
}

// To the sums of those features that are the worker's share.
void MaxMargin::add_steps(int64_t e, int32_t share) {
  const int64_t end = rows_.row_begin[e + 1];
  for (int64_t k = rows_.row_begin[e]; k < end; ++k) {
    if (k + kFeaturesAhead < end && rows_.index[k + kFeaturesAhead] % n_workers_ == share) {
      for (const ActiveLabel& active : examples_[e].active) {
        weights_->prefetch(rows_.index[k + kFeaturesAhead], active.label);
      }
    }
    if (rows_.index[k] % n_workers_ != share) continue;
    for (const ActiveLabel& active : examples_[e].active) {
      if (active.step != 0) weights_->add(rows_.index[k], active.label, rows_.value[k] * active.step);
    }
  }
}

// The objective and the gap at the final weights.
void MaxMargin::measure() {
  double penalty = 0;
  for (int32_t feature = 0; feature < rows_.n_features(); ++feature) {
    weights_->visit(feature, [&](int32_t, float weight) {
      penalty += options_.l1 * std::fabs(weight) + 0.5 * static_cast<double>(weight) * weight;
    });
  }
  report_.objective = penalty;
  std::vector<double> loss(round_size_);
  visit_rounds([&](int64_t begin, int64_t n) {
    parallel_for(n_workers_, n, [&](int64_t i, int worker) {
      const Violation found = find_violation(begin + i, scratch_[worker]);
      gap_[i] = found.gap;
      loss[i] = static_cast<double>(examples_[begin + i].cost) * found.loss;
    });
    for (int64_t i = 0; i < n; ++i) {
      report_.duality_gap += gap_[i];
      report_.objective += loss[i];
      report_.n_active += static_cast<int64_t>(examples_[begin + i].active.size());
    }
  });
}

BlockArrays MaxMargin::result(const FeatureRange& dense) {
  BlockArrays arrays;
  arrays.block_begin = {0, 0, 0};
  arrays.block_entry_begin = {0, 0, 0};
  arrays.entry_begin = {0, 0};
  arrays.dense_weight.assign((1 + n_panels(n_labels_)) * dense.size() * kPanelColumns, 0.0f);
  const int32_t n_features = rows_.n_features() - (options_.bias != 0);
  std::vector<int32_t> by_feature(n_features);
  std::iota(by_feature.begin(), by_feature.end(), 0);
  std::sort(by_feature.begin(), by_feature.end(),
            [&](int32_t a, int32_t b) { return rows_.feature[a] < rows_.feature[b]; });
  std::vector<std::pair<int32_t, float>> entries;
  for (const int32_t local : by_feature) {
    const int32_t feature = rows_.feature[local];
    entries.clear();
    weights_->visit(local, [&](int32_t label, float weight) {
      if (dense.contains(feature)) {
        const int64_t row = (1 + label / kPanelColumns) * dense.size() + feature - dense.begin;
        arrays.dense_weight[row * kPanelColumns + label % kPanelColumns] = weight;
      } else if (std::fabs(weight) >= options_.prune) {
        entries.emplace_back(label, weight);
      } else {
        ++report_.n_pruned;
      }
    });
    if (entries.empty()) continue;
    std::sort(entries.begin(), entries.end());
    for (const auto& [label, weight] : entries) {
      arrays.column.push_back(static_cast<uint32_t>(label));
      arrays.weight.push_back(weight);
    }
    if (arrays.column.size() > std::numeric_limits<uint32_t>::max()) {
      throw std::length_error(
          "a sibling block has more than 4,294,967,295 weights; use a larger l1 or prune");
    }
    arrays.feature.push_back(feature);
    arrays.entry_begin.push_back(static_cast<uint32_t>(arrays.column.size()));
  }
  arrays.block_begin[2] = static_cast<int64_t>(arrays.feature.size());
  arrays.block_entry_begin[2] = static_cast<int64_t>(arrays.column.size());
  if (options_.bias != 0) {
    weights_->visit(n_features,
                    [&](int32_t label, float weight) { bias_[label + 1] = weight * options_.bias; });
  }
  arrays.bias = std::move(bias_);
  return arrays;
}

}  // namespace

BlockArrays train_max_margin(const Examples& examples, const MaxMarginOptions& options, Progress& progress,
                             MaxMarginReport& report) {
  MaxMargin solver(examples.n_labels, options, progress, report);
  solver.read(examples);
  solver.solve();
  return solver.result(examples.features.dense());
}

}  // namespace labeltree
