#include "search/forest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/parallel_for.h"
#include "search/side_by_side.h"
#include "search/subtree_values.h"

namespace labeltree {

namespace {

constexpr int64_t kRowsPerTask = 64;
// Rows that are answered side by side where that is of use: the more, the more of them want the same block.
constexpr int64_t kMostSideBySide = 256;
// They remember, per thread, what they know of so many blocks in all: 12 bytes for each.
constexpr int64_t kBlocksRemembered = 1 << 22;

}  // namespace

Forest::Forest(std::vector<std::shared_ptr<const BlockStore>> trees, std::vector<double> weights)
    : trees_(std::move(trees)), weights_(std::move(weights)) {
  if (trees_.empty()) throw std::invalid_argument("a model needs at least one tree");
  if (weights_.size() != trees_.size()) throw std::invalid_argument("there must be one weight for each tree");
  for (const double weight : weights_) {
    if (!(weight > 0)) throw std::invalid_argument("the weights of trees must be above 0");
    total_weight_ += weight;
  }
  for (const auto& tree : trees_) {
    if (tree->tree().n_labels != n_labels() || tree->n_features() != n_features() ||
        tree->dense() != dense()) {
      throw CorruptModel("the trees of a model differ in their number of labels or features");
    }
  }
}

Forest::Scratch::Scratch(const Forest& forest) {
  for (const auto& tree : forest.trees_) searches.emplace_back(*tree);
}

// Some Scratch from the pool for as long as this lives.
class Forest::Lease {
 public:
  Lease(const Forest& forest, int64_t n) : forest_(forest) {
    {
      const std::lock_guard lock(forest.pool_mutex_);
      for (; n > 0 && !forest.pool_.empty(); --n) {
        rows_.push_back(std::move(forest.pool_.back()));
        forest.pool_.pop_back();
      }
    }
    for (; n > 0; --n) rows_.push_back(std::make_unique<Scratch>(forest));
  }
  ~Lease() {
    const std::lock_guard lock(forest_.pool_mutex_);
    for (auto& scratch : rows_) forest_.pool_.push_back(std::move(scratch));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  const Rows& operator*() const { return rows_; }

 private:
  const Forest& forest_;
  Rows rows_;
};

struct Forest::NodeMasks {
  NodeMasks(const Forest& forest, const uint8_t* label_allowed) {
    if (label_allowed == nullptr) return;
    for (const auto& tree : forest.trees_) allowed.push_back(subtree_any(*tree, label_allowed));
  }
  const uint8_t* tree(size_t t) const { return allowed.empty() ? nullptr : allowed[t].data(); }

  std::vector<std::vector<uint8_t>> allowed;
};

void Forest::start(Scratch& scratch, const FeatureMatrix& features, int64_t row, const SearchOptions& options,
                   const NodeMasks& masks) const {
  scratch.query.clear();
  features.append(row, scratch.query);
  scratch.pooled.clear();
  scratch.weighted.clear();
  for (size_t t = 0; t < trees_.size(); ++t) {
    scratch.searches[t].start(scratch.query, options.normalize_siblings, masks.tree(t));
  }
}

void Forest::average(Scratch& scratch) const {
  std::vector<ScoredLabel>& pooled = scratch.pooled;
  std::sort(pooled.begin(), pooled.end(),
            [](const ScoredLabel& a, const ScoredLabel& b) { return a.label < b.label; });
  pooled.erase(std::unique(pooled.begin(), pooled.end(),
                           [](const ScoredLabel& a, const ScoredLabel& b) { return a.label == b.label; }),
               pooled.end());
  for (ScoredLabel& candidate : pooled) {
    double sum = 0;
    for (size_t t = 0; t < trees_.size(); ++t) {
      sum += weights_[t] * scratch.searches[t].probability(candidate.label);
    }
    candidate.probability = mean(sum);
  }
}

void Forest::average_proposed(Scratch& scratch) const {
  auto& weighted = scratch.weighted;
  // Stable: a label's terms are added in the order of the trees.
  std::stable_sort(weighted.begin(), weighted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  scratch.pooled.clear();
  for (size_t i = 0; i < weighted.size();) {
    const int32_t label = weighted[i].first;
    double sum = 0;
    for (; i < weighted.size() && weighted[i].first == label; ++i) sum += weighted[i].second;
    scratch.pooled.push_back({mean(sum), label});
  }
}

// From a sum in double precision: in single, the mean could be above all of its parts, and searches that rely
// on its not being so would miss labels.
float Forest::mean(double weighted_sum) const { return static_cast<float>(weighted_sum / total_weight_); }

template <class Strategy, class Start>
void Forest::search(size_t t, const Rows& rows, size_t n, Strategy Scratch::* strategy, bool weighted,
                    const Start& start) const {
  if (n == 1) {
    search_alone(rows[0]->searches[t], *rows[0].*strategy, start);
  } else {
    SideBySide<Strategy> searches;
    for (size_t i = 0; i < n; ++i) searches.add(rows[i]->searches[t], *rows[i].*strategy);
    searches.run(start);
  }
  for (size_t i = 0; i < n; ++i) {
    Scratch& scratch = *rows[i];
    (scratch.*strategy).take(scratch.found);
    if (!weighted) {
      scratch.pooled.insert(scratch.pooled.end(), scratch.found.begin(), scratch.found.end());
      continue;
    }
    for (const ScoredLabel& s : scratch.found) {
      scratch.weighted.push_back({s.label, weights_[t] * s.probability});
    }
  }
}

template <class Body>
void Forest::for_rows(int64_t n_rows, int n_threads, int64_t side_by_side, const Body& body) const {
  const int64_t grain = std::max(kRowsPerTask, side_by_side);
  parallel_ranges(n_threads, n_rows, grain, [&](int64_t begin, int64_t end, int) {
    const Lease lease(*this, side_by_side);
    for (int64_t row = begin; row < end; row += side_by_side) {
      body(row, static_cast<size_t>(std::min(side_by_side, end - row)), *lease);
    }
  });
}

int64_t Forest::n_side_by_side(int64_t n_rows, int n_threads) const {
  if (dense().size() == 0) return 1;  // sparse weights are looked up for each row anyway
  int64_t n_blocks = 0;
  for (const auto& tree : trees_) n_blocks += tree->n_blocks();
  const int64_t share = (n_rows + n_threads - 1) / std::max(n_threads, 1);
  return std::max(std::min({kMostSideBySide, kBlocksRemembered / n_blocks, share}), int64_t{1});
}

static int64_t count_evaluations(const std::vector<TreeSearch>& searches) {
  int64_t sum = 0;
  for (const TreeSearch& search : searches) sum += search.n_evaluations();
  return sum;
}

void Forest::top_k(const FeatureMatrix& features, int k, float threshold, const SearchOptions& options,
                   int32_t* labels, float* probabilities, int64_t* evaluations) const {
  if (options.label_weight == nullptr) {
    top_k(
        &Scratch::top_k, &Scratch::beam, [](size_t) { return ByProbability{}; }, features, k, threshold,
        options, labels, probabilities, evaluations);
    return;
  }
  std::vector<std::vector<double>> node_weight;
  for (const auto& tree : trees_) node_weight.push_back(subtree_maximum(*tree, options.label_weight));
  const auto by_worth = [&](size_t t) { return ByWorth{options.label_weight, node_weight[t].data()}; };
  top_k(&Scratch::top_k_by_worth, &Scratch::beam_by_worth, by_worth, features, k, threshold, options, labels,
        probabilities, evaluations);
}

template <class Ranking, class RankingOf>
void Forest::top_k(TopKSearch<LabelTreeView, Ranking> Scratch::* exact,
                   BeamSearch<LabelTreeView, Ranking> Scratch::* beam, const RankingOf& ranking_of,
                   const FeatureMatrix& features, int k, float threshold, const SearchOptions& options,
                   int32_t* labels, float* probabilities, int64_t* evaluations) const {
  const NodeMasks masks(*this, options.label_allowed);
  const bool single = trees_.size() == 1;
  const bool zero = options.missing_as_zero && !single;
  // A label may be below the threshold in one tree and above it on average.
  const float bound = single ? threshold : 0.0f;
  const int64_t side_by_side = n_side_by_side(features.n_rows(), options.n_threads);
  if (options.progress != nullptr) options.progress->start(features.n_rows());
  for_rows(
      features.n_rows(), options.n_threads, side_by_side, [&](int64_t first, size_t n, const Rows& rows) {
        if (options.progress != nullptr) {
          options.progress->check();
          options.progress->advance(static_cast<int64_t>(n));
        }
        for (size_t i = 0; i < n; ++i)
          start(*rows[i], features, first + static_cast<int64_t>(i), options, masks);
        for (size_t t = 0; t < trees_.size(); ++t) {
          const Ranking ranking = ranking_of(t);
          if (options.beam > 0) {
            search(t, rows, n, beam, zero, [&](auto& strategy, auto&&... where) {
              strategy.start(where..., k, options.beam, bound, ranking);
            });
          } else {
            search(t, rows, n, exact, zero,
                   [&](auto& strategy, auto&&... where) { strategy.start(where..., k, bound, ranking); });
          }
        }
        for (size_t i = 0; i < n; ++i) {
          Scratch& scratch = *rows[i];
          const int64_t row = first + static_cast<int64_t>(i);
          if (!single) {
            zero ? average_proposed(scratch) : average(scratch);
            std::erase_if(scratch.pooled, [&](const ScoredLabel& s) { return s.probability < threshold; });
            keep_best(k, scratch.pooled, ranking_of(0));  // labels weigh the same in all trees
          }
          for (int64_t j = 0; j < k; ++j) {
            const bool there = j < static_cast<int64_t>(scratch.pooled.size());
            labels[row * k + j] = there ? scratch.pooled[j].label : -1;
            probabilities[row * k + j] = there ? scratch.pooled[j].probability : 0.0f;
          }
          if (evaluations) evaluations[row] = count_evaluations(scratch.searches);
        }
      });
}

std::vector<std::vector<ScoredLabel>> Forest::above(const FeatureMatrix& features, int64_t k, float threshold,
                                                    const float* label_threshold,
                                                    const SearchOptions& options,
                                                    int64_t* evaluations) const {
  const NodeMasks masks(*this, options.label_allowed);
  std::vector<std::vector<float>> node_threshold;
  if (label_threshold) {
    for (const auto& tree : trees_) node_threshold.push_back(subtree_minimum(*tree, label_threshold));
  }
  std::vector<std::vector<ScoredLabel>> result(features.n_rows());
  const int64_t side_by_side = n_side_by_side(features.n_rows(), options.n_threads);
  for_rows(features.n_rows(), options.n_threads, side_by_side,
           [&](int64_t first, size_t n, const Rows& rows) {
             for (size_t i = 0; i < n; ++i)
               start(*rows[i], features, first + static_cast<int64_t>(i), options, masks);
             for (size_t t = 0; t < trees_.size(); ++t) {
               const float* of_node = label_threshold ? node_threshold[t].data() : nullptr;
               search(t, rows, n, &Scratch::above, false, [&](ThresholdSearch<>& strategy, auto&&... where) {
                 strategy.start(where..., of_node, threshold);
               });
             }
             for (size_t i = 0; i < n; ++i) {
               Scratch& scratch = *rows[i];
               const int64_t row = first + static_cast<int64_t>(i);
               if (trees_.size() > 1) {
                 average(scratch);
                 std::erase_if(scratch.pooled, [&](const ScoredLabel& s) {
                   return s.probability < (label_threshold ? label_threshold[s.label] : threshold);
                 });
               }
               keep_best(k, scratch.pooled);
               result[row] = scratch.pooled;
               if (evaluations) evaluations[row] = count_evaluations(scratch.searches);
             }
           });
  return result;
}

void Forest::pairs(const FeatureMatrix& features, const int64_t* rows, const int32_t* labels, int64_t n,
                   const SearchOptions& options, float* probabilities) const {
  std::vector<int64_t> starts;  // of runs of one row, so that a row's blocks are expanded once
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || rows[i] != rows[i - 1]) starts.push_back(i);
  }
  starts.push_back(n);
  const NodeMasks masks(*this, nullptr);
  const int64_t n_runs = static_cast<int64_t>(starts.size()) - 1;
  for_rows(n_runs, options.n_threads, 1, [&](int64_t run, size_t, const Rows& rows_alone) {
    Scratch& scratch = *rows_alone[0];
    start(scratch, features, rows[starts[run]], options, masks);
    for (int64_t i = starts[run]; i < starts[run + 1]; ++i) {
      scratch.pooled.assign(1, {0.0f, labels[i]});
      average(scratch);
      probabilities[i] = scratch.pooled[0].probability;
    }
  });
}

Forest::Enumeration::Enumeration(std::shared_ptr<const Forest> forest, const FeatureMatrix& features,
                                 int64_t row, const SearchOptions& options)
    : forest_(std::move(forest)),
      scratch_(*forest_),
      masks_(std::make_unique<NodeMasks>(*forest_, options.label_allowed)),
      frontier_(forest_->n_trees(), 1.0f),
      seen_(forest_->n_labels(), 0) {
  forest_->start(scratch_, features, row, options, *masks_);
  for (TreeSearch& search : scratch_.searches) search.start_enumeration();
}

Forest::Enumeration::~Enumeration() = default;

bool Forest::Enumeration::next(ScoredLabel& out) {
  const auto worse = [](const ScoredLabel& a, const ScoredLabel& b) { return b < a; };
  for (;;) {
    // No label that no tree has enumerated yet has a better average than this.
    const float bound =
        forest_->mean(std::inner_product(frontier_.begin(), frontier_.end(), forest_->weights_.begin(), 0.0));
    // A tree that has no more has given every label there is.
    const bool exhausted = std::any_of(frontier_.begin(), frontier_.end(), [](float p) { return p < 0; });
    if (!ready_.empty() && (exhausted || ready_.front().probability >= bound)) break;
    if (exhausted) return false;
    for (size_t t = 0; t < frontier_.size(); ++t) {
      ScoredLabel found;
      if (!scratch_.searches[t].next(found)) {
        frontier_[t] = -1;
        continue;
      }
      frontier_[t] = found.probability;
      if (std::exchange(seen_[found.label], 1)) continue;
      scratch_.pooled.assign(1, found);
      forest_->average(scratch_);
      ready_.push_back(scratch_.pooled[0]);
      std::push_heap(ready_.begin(), ready_.end(), worse);
    }
  }
  std::pop_heap(ready_.begin(), ready_.end(), worse);
  out = ready_.back();
  ready_.pop_back();
  return true;
}

}  // namespace labeltree
