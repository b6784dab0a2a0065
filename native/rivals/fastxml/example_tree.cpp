#include "rivals/fastxml/example_tree.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/parallel_for.h"
#include "core/random.h"
#include "rivals/fastxml/ranking_split.h"
#include "training/local_block.h"
#include "training/primal_descent.h"

namespace labeltree {

namespace {

// What all trees are grown from.
struct Problem {
  const FeatureMatrix& features;
  GainView gains;
  std::vector<int32_t> rows;   // rows with a weight above 0
  std::vector<double> weight;  // per row of all
  std::vector<double> row_gain;
  double largest_gain = 1;  // of a label
};

Problem make_problem(const Examples& examples, const double* label_gain, bool normalize_gain) {
  const LabelMatrixView& labels = examples.labels;
  Problem problem{examples.features, {labels, examples.n_labels, nullptr, label_gain}, {}, {}, {}, 1};
  std::vector<double> ideal(1, 1);  // by the number of labels; a row without any gains nothing anyway
  for (int64_t row = 0; row < labels.n_rows; ++row) {
    const double weight = examples.weight(row);
    if (weight > 0) problem.rows.push_back(static_cast<int32_t>(row));
    const auto n = static_cast<size_t>(labels.indptr[row + 1] - labels.indptr[row]);
    while (ideal.size() <= n) {
      const double above = ideal.size() == 1 ? 0 : ideal.back();
      ideal.push_back(above + 1 / std::log2(static_cast<double>(ideal.size()) + 1));
    }
    problem.weight.push_back(weight);
    problem.row_gain.push_back(normalize_gain ? weight / ideal[n] : weight);
  }
  problem.gains.row_gain = problem.row_gain.data();
  if (label_gain != nullptr)
    problem.largest_gain = *std::max_element(label_gain, label_gain + examples.n_labels);
  return problem;
}

// Grows one tree after another; keeps its memory, which is that of the largest node.
class Grower {
 public:
  Grower(const Problem& problem, const ExampleTreeOptions& options)
      : problem_(problem),
        options_(options),
        maker_(problem.features.n_features()),
        split_(problem.gains),
        separator_(Loss::logistic, static_cast<float>(options.tol), options.max_iter, options.bias),
        frequency_(problem.gains.n_labels, 0.0) {}

  ExampleTreeArrays grow(uint64_t seed, Progress& progress) {
    ExampleTreeArrays tree;
    tree.n_rounds.assign(1, 0);
    rows_ = problem_.rows;
    std::vector<int64_t> begin{0}, end{static_cast<int64_t>(rows_.size())};
    for (size_t v = 0; v < begin.size(); ++v) {
      progress.check();
      const int64_t n_rows = end[v] - begin[v];
      int32_t* rows = rows_.data() + begin[v];
      const bool is_split =
          n_rows > options_.max_leaf && split(rows, n_rows, mix_seed(seed, v), tree, progress);
      if (is_split) {
        const int64_t middle = begin[v] + divide(rows, n_rows);
        tree.child.push_back(static_cast<int32_t>(begin.size()));
        begin.insert(begin.end(), {begin[v], middle});
        end.insert(end.end(), {middle, end[v]});
      } else {
        tree.child.push_back(0);
        tree.bias.push_back(0);
        make_leaf(rows, n_rows, tree);
        progress.advance(n_rows);
      }
      tree.weight_begin.push_back(static_cast<int64_t>(tree.weight.size()));
      tree.pair_begin.push_back(static_cast<int64_t>(tree.label.size()));
    }
    tree.tree_begin.push_back(static_cast<int64_t>(tree.child.size()));
    return tree;
  }

 private:
  // Adds a separator to the tree, and leaves in positive_ on which side of it the rows are; or false if all
  // are on one.
  bool split(const int32_t* rows, int64_t n_rows, uint64_t seed, ExampleTreeArrays& tree,
             const Progress& progress) {
    Random random(seed);
    positive_.resize(n_rows);
    for (uint8_t& side : positive_) side = random.next() >> 63;
    split_.run(rows, n_rows, positive_, progress);
    if (!has_both_sides()) return false;
    weigh(rows, n_rows);
    const LocalBlock block = maker_.make(problem_.features, rows, n_rows, options_.bias, progress, true);
    const std::vector<uint32_t> positive(positive_.begin(), positive_.end());
    const GroupProblem group{block, rows, nullptr, nullptr, cost_.data(), nullptr, positive, 1};
    separator_.run(group, random.next(), progress);
    tree.n_rounds[0] = std::max<int64_t>(tree.n_rounds[0], separator_.n_passes());
    return add_separator(block, tree);
  }

  bool has_both_sides() const {
    const auto n = static_cast<size_t>(std::count(positive_.begin(), positive_.end(), 1));
    return n > 0 && n < positive_.size();
  }

  // Both sides cost the same in sum.
  void weigh(const int32_t* rows, int64_t n_rows) {
    double sum[2] = {0, 0};
    for (int64_t i = 0; i < n_rows; ++i) sum[positive_[i]] += problem_.weight[rows[i]];
    cost_.resize(n_rows);
    for (int64_t i = 0; i < n_rows; ++i) {
      const double cost = options_.C * problem_.weight[rows[i]] * (sum[0] + sum[1]) / sum[positive_[i]];
      cost_[i] = static_cast<float>(std::clamp(cost, 1e-10, 1e10));  // however extreme weights are
    }
  }

  bool add_separator(const LocalBlock& block, ExampleTreeArrays& tree) {
    const float* weights = separator_.learned().weights;
    const int64_t lanes = separator_.learned().lanes;
    // By the weights as they are stored: training and prediction send a row the same way.
    for (int64_t i = 0; i < block.n_rows(); ++i) {
      double score = 0;
      for (int64_t k = block.row_begin[i]; k < block.row_begin[i + 1]; ++k) {
        score += static_cast<double>(weights[block.index[k] * lanes]) * block.value[k];
      }
      positive_[i] = score >= 0;
    }
    if (!has_both_sides()) return false;
    const auto n_features = static_cast<int32_t>(problem_.features.n_features());
    float bias = 0;
    kept_.clear();
    for (int64_t f = 0; f < block.n_features(); ++f) {
      const float weight = weights[f * lanes];
      if (block.feature[f] == n_features) {
        bias = weight * options_.bias;
      } else if (weight != 0) {
        kept_.push_back({block.feature[f], weight});
      }
    }
    std::sort(kept_.begin(), kept_.end());
    for (const auto& [feature, weight] : kept_) {
      tree.feature.push_back(feature);
      tree.weight.push_back(weight);
    }
    tree.bias.push_back(bias);
    return true;
  }

  // Negative rows first, each side in the order it had; returns how many these are.
  int64_t divide(int32_t* rows, int64_t n_rows) {
    moved_.clear();
    int64_t n_negative = 0;
    for (int64_t i = 0; i < n_rows; ++i) {
      if (positive_[i]) {
        moved_.push_back(rows[i]);
      } else {
        rows[n_negative++] = rows[i];
      }
    }
    std::copy(moved_.begin(), moved_.end(), rows + n_negative);
    return n_negative;
  }

  void make_leaf(const int32_t* rows, int64_t n_rows, ExampleTreeArrays& tree) {
    const LabelMatrixView& labels = problem_.gains.labels;
    const double* gain = problem_.gains.label_gain;
    double total = 0;
    found_.clear();
    for (int64_t i = 0; i < n_rows; ++i) {
      const double weight = problem_.weight[rows[i]];
      total += weight;
      for (int64_t k = labels.indptr[rows[i]]; k < labels.indptr[rows[i] + 1]; ++k) {
        double& frequency = frequency_[labels.indices[k]];
        if (frequency == 0) found_.push_back(labels.indices[k]);
        frequency += weight;
      }
    }
    const auto value = [&](int32_t label) {
      return frequency_[label] / total * (gain != nullptr ? gain[label] / problem_.largest_gain : 1);
    };
    const int64_t n_kept = std::min<int64_t>(options_.leaf_labels, static_cast<int64_t>(found_.size()));
    std::nth_element(found_.begin(), found_.begin() + n_kept, found_.end(), [&](int32_t a, int32_t b) {
      const double of_a = value(a), of_b = value(b);
      return of_a != of_b ? of_a > of_b : a < b;
    });
    std::sort(found_.begin(), found_.begin() + n_kept);
    for (int64_t i = 0; i < n_kept; ++i) {
      tree.label.push_back(found_[i]);
      tree.probability.push_back(std::min(static_cast<float>(value(found_[i])), 1.0f));
    }
    for (const int32_t label : found_) frequency_[label] = 0;
  }

  const Problem& problem_;
  const ExampleTreeOptions& options_;
  LocalBlockMaker maker_;
  RankingSplit split_;
  PrimalDescent separator_;
  std::vector<int32_t> rows_, moved_, found_;
  std::vector<uint8_t> positive_;
  std::vector<float> cost_;
  std::vector<double> frequency_;
  std::vector<std::pair<int32_t, float>> kept_;
};

void append(ExampleTreeArrays& all, ExampleTreeArrays tree) {
  const auto add = [](auto& to, const auto& from, auto shift, size_t skipped) {
    for (size_t i = skipped; i < from.size(); ++i) to.push_back(from[i] + shift);
  };
  const auto first = static_cast<int32_t>(all.child.size());
  for (const int32_t child : tree.child) all.child.push_back(child == 0 ? 0 : child + first);
  all.n_rounds.push_back(tree.n_rounds[0]);
  add(all.tree_begin, tree.tree_begin, all.tree_begin.back(), 1);
  add(all.weight_begin, tree.weight_begin, all.weight_begin.back(), 1);
  add(all.pair_begin, tree.pair_begin, all.pair_begin.back(), 1);
  all.feature.insert(all.feature.end(), tree.feature.begin(), tree.feature.end());
  all.weight.insert(all.weight.end(), tree.weight.begin(), tree.weight.end());
  all.bias.insert(all.bias.end(), tree.bias.begin(), tree.bias.end());
  all.label.insert(all.label.end(), tree.label.begin(), tree.label.end());
  all.probability.insert(all.probability.end(), tree.probability.begin(), tree.probability.end());
}

}  // namespace

ExampleTreeArrays grow_example_trees(const Examples& examples, const double* label_gain,
                                     const std::vector<uint64_t>& seeds, const ExampleTreeOptions& options,
                                     Progress& progress) {
  const Problem problem = make_problem(examples, label_gain, options.normalize_gain);
  const auto n_trees = static_cast<int64_t>(seeds.size());
  progress.start(n_trees * static_cast<int64_t>(problem.rows.size()));
  std::vector<ExampleTreeArrays> trees(n_trees);
  std::vector<std::unique_ptr<Grower>> growers(std::max(options.n_threads, 1));
  parallel_for(options.n_threads, n_trees, [&](int64_t t, int worker) {
    if (!growers[worker]) growers[worker] = std::make_unique<Grower>(problem, options);
    trees[t] = growers[worker]->grow(seeds[t], progress);
  });
  growers.clear();
  ExampleTreeArrays all;
  for (ExampleTreeArrays& tree : trees) {
    if (all.child.size() + tree.child.size() > INT32_MAX) {
      throw std::invalid_argument("the trees have more than 2,147,483,647 nodes: train fewer of them");
    }
    append(all, std::exchange(tree, {}));
  }
  return all;
}

}  // namespace labeltree
