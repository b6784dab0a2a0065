// The members of ForestOf, for the files that instantiate it.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "core/parallel_for.h"
#include "search/answers.h"
#include "search/batch_search.h"
#include "search/forest.h"
#include "search/side_by_side.h"
#include "search/subtree_values.h"

namespace labeltree {

template <class Store>
ForestOf<Store>::ForestOf(std::vector<std::shared_ptr<const Store>> trees, std::vector<double> weights)
    : trees_(std::move(trees)), average_(std::move(weights)) {
  if (trees_.empty()) throw std::invalid_argument("a model needs at least one tree");
  if (average_.n_trees() != trees_.size()) {
    throw std::invalid_argument("expected one weight for each of the " + std::to_string(trees_.size()) +
                                " trees, got " + std::to_string(average_.n_trees()));
  }
  for (const auto& tree : trees_) check_alike(*trees_[0], *tree);
}

template <class Store>
ForestOf<Store>::Scratch::Scratch(const ForestOf& forest) {
  for (const auto& tree : forest.trees_) searches.emplace_back(*tree);
}

// Some Scratch from the pool for as long as this lives.
template <class Store>
class ForestOf<Store>::Lease {
 public:
  Lease(const ForestOf& forest, int64_t n)
      : pool_(forest.pool_), rows_(pool_.take(n, [&] { return std::make_unique<Scratch>(forest); })) {}
  ~Lease() { pool_.give_back(rows_); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  const Rows& operator*() const { return rows_; }

 private:
  Pool<Scratch>& pool_;
  Rows rows_;
};

template <class Store>
ForestOf<Store>::NodeMasks::NodeMasks(const ForestOf& forest, const uint8_t* label_allowed) {
  if (label_allowed == nullptr) return;
  for (const auto& tree : forest.trees_) allowed_.push_back(subtree_any(tree->tree(), label_allowed));
}

template <class Store>
void ForestOf<Store>::start(Scratch& scratch, const FeatureMatrix& features, int64_t row,
                            const Search& search, const NodeMasks& masks) const {
  trees_[0]->read(features, row, scratch.query);
  scratch.pooled.clear();
  scratch.weighted.clear();
  for (size_t t = 0; t < trees_.size(); ++t) {
    scratch.searches[t].start(scratch.query, search.normalize_siblings, masks.of_tree(t));
  }
}

template <class Store>
template <class StrategyOf, class Start>
void ForestOf<Store>::ask_tree(size_t t, const Rows& rows, size_t n, const StrategyOf& strategy_of,
                               bool weighted, const Start& start) const {
  if (n == 1) {
    search_alone(rows[0]->searches[t], strategy_of(*rows[0]), start);
  } else {
    if constexpr (Store::kSharesBlocks) {
      SideBySide<Store, std::remove_reference_t<decltype(strategy_of(*rows[0]))>> searches;
      for (size_t i = 0; i < n; ++i) searches.add(rows[i]->searches[t], strategy_of(*rows[i]));
      searches.run(start);
    }
  }
  for (size_t i = 0; i < n; ++i) {
    Scratch& scratch = *rows[i];
    strategy_of(scratch).take(scratch.found);
    if (!weighted) {
      scratch.pooled.insert(scratch.pooled.end(), scratch.found.begin(), scratch.found.end());
      continue;
    }
    for (const ScoredLabel& s : scratch.found) {
      scratch.weighted.push_back({s.label, average_.weight(t) * s.probability});
    }
  }
}

template <class Store>
template <class Body>
void ForestOf<Store>::for_rows(int64_t n_rows, int n_threads, int64_t side_by_side, const Body& body) const {
  const int64_t grain = std::max(Store::kRowsPerTask, side_by_side);
  parallel_ranges(n_threads, n_rows, grain, [&](int64_t begin, int64_t end, int) {
    const Lease lease(*this, side_by_side);
    for (int64_t row = begin; row < end; row += side_by_side) {
      stop_if_interrupted();
      body(row, static_cast<size_t>(std::min(side_by_side, end - row)), *lease);
    }
  });
}

template <class Store>
int64_t ForestOf<Store>::n_side_by_side(int64_t n_rows, int n_threads) const {
  if constexpr (!Store::kSharesBlocks) {
    return 1;
  } else {
    // The maximum number of rows that are answered side by side: the more rows, the more of them want one
    // block.
    constexpr int64_t kMost = 256;
    // The maximum number of blocks that the rows of a thread remember, together: 12 bytes for each.
    constexpr int64_t kBlocksRemembered = 1 << 22;
    if (trees_[0]->dense().size() == 0) return 1;  // sparse weights are looked up for each row anyway
    int64_t n_blocks = 0;
    for (const auto& tree : trees_) n_blocks += tree->n_blocks();
    const int64_t share = (n_rows + n_threads - 1) / std::max(n_threads, 1);
    return std::max(std::min({kMost, kBlocksRemembered / n_blocks, share}), int64_t{1});
  }
}

template <class Store>
int64_t ForestOf<Store>::n_in_batch(int64_t n_rows, const Search& search) const
  requires(Store::kSharesBlocks)
{
  // With fewer rows for each thread, few want the same block. More gain nothing, and take a few KB of memory
  // each.
  constexpr int64_t kFewest = 32, kMost = 2048;
  if (trees_.size() > 1 || trees_[0]->dense().size() > 0 || search.beam > 0) return 0;
  if (trees_[0]->n_blocks() <= 2) return 0;  // a flat tree: the block of all labels is in no cache
  const int64_t n_threads = std::max(search.n_threads, 1);
  const int64_t share = (n_rows + n_threads - 1) / n_threads;
  return share < kFewest ? 0 : std::min(share, kMost);
}

template <class Store>
template <class Ranking, class Answer>
void ForestOf<Store>::top_k_in_batch(const Ranking& ranking, int64_t n_in_batch, const NodeMasks& masks,
                                     const Wanted& wanted, const Search& search, const Answer& answer) const {
  const int64_t k = search.k;
  const int64_t n_allowed = search.allowed == nullptr
                                ? n_labels()
                                : std::count_if(search.allowed, search.allowed + n_labels(),
                                                [](uint8_t flag) { return flag != 0; });
  std::vector<std::unique_ptr<BatchSearch<Ranking>>> searches(std::max(search.n_threads, 1));
  const auto answer_rows = [&](int64_t begin, int64_t end, int worker) {
    auto& batch = searches[worker];
    if (batch == nullptr) batch = std::make_unique<BatchSearch<Ranking>>(*trees_[0]);
    batch->run(wanted.features, wanted.first + begin, end - begin, search, masks.of_tree(0), n_allowed,
               ranking, wanted.progress);
    const Lease lease(*this, 1);
    int64_t n_answered = 0;
    for (int64_t row = begin; row < end; ++row) {
      if (!batch->is_answered(row - begin)) {
        stop_if_interrupted();
        answer(row, 1, *lease);
        continue;
      }
      write_ranked(batch->sorted(row - begin), k, wanted.labels + row * k, wanted.probabilities + row * k);
      if (wanted.evaluations) wanted.evaluations[row] = batch->n_evaluations(row - begin);
      ++n_answered;
    }
    if (wanted.progress != nullptr) wanted.progress->advance(n_answered);
  };
  parallel_ranges(search.n_threads, wanted.n_rows, n_in_batch, answer_rows);
}

template <class Store>
int64_t count_evaluations(const std::vector<TreeSearch<Store>>& searches) {
  int64_t sum = 0;
  for (const TreeSearch<Store>& search : searches) sum += search.n_evaluations();
  return sum;
}

template <class Store>
void ForestOf<Store>::top_k(const FeatureMatrix& features, const Search& search, int32_t* labels,
                            float* probabilities, int64_t* evaluations, Progress* progress) const {
  top_k({features, 0, features.n_rows(), labels, probabilities, evaluations, progress}, search);
}

template <class Store>
void ForestOf<Store>::top_k_of_row(const FeatureMatrix& features, int64_t row, const Search& search,
                                   int32_t* labels, float* probabilities) const {
  top_k({features, row, 1, labels, probabilities, nullptr, nullptr}, search);
}

template <class Store>
void ForestOf<Store>::top_k(const Wanted& wanted, const Search& search) const {
  if (search.label_weight == nullptr) {
    top_k(&Scratch::by_probability, std::vector<ByProbability>(trees_.size()), wanted, search);
    return;
  }
  std::vector<std::vector<double>> node_weight;
  std::vector<ByWorth> by_worth;
  for (const auto& tree : trees_) {
    node_weight.push_back(subtree_maximum(tree->tree(), search.label_weight));
    by_worth.push_back({search.label_weight, node_weight.back().data()});
  }
  top_k(&Scratch::by_worth, by_worth, wanted, search);
}

template <class Store>
template <class Ranking>
void ForestOf<Store>::top_k(Ranked<Ranking> Scratch::* ranked, const std::vector<Ranking>& rankings,
                            const Wanted& wanted, const Search& search) const {
  const int64_t k = search.k;
  const NodeMasks masks(*this, search.allowed);
  const bool single = trees_.size() == 1;
  const bool zero = search.missing_as_zero && !single;
  const bool joint = !single && search.beam == 0 && !zero;
  // A label that reaches the threshold on average reaches it in some tree, where a joint search finds it.
  // Without one, averages may need what other trees propose; but by worth that could be nothing that reaches
  // it.
  const float bound = single || joint || search.label_weight != nullptr ? search.threshold : 0.0f;
  const int64_t side_by_side = n_side_by_side(wanted.n_rows, search.n_threads);
  Progress* progress = wanted.progress;
  if (progress != nullptr) progress->start(wanted.n_rows);
  const auto answer = [&](int64_t first, size_t n, const Rows& rows) {
    if (progress != nullptr) {
      progress->check();
      progress->advance(static_cast<int64_t>(n));
    }
    for (size_t i = 0; i < n; ++i) {
      start(*rows[i], wanted.features, wanted.first + first + static_cast<int64_t>(i), search, masks);
    }
    for (size_t t = 0; n_labels() > 0 && t < trees_.size(); ++t) {
      if (search.beam > 0) {
        ask_tree(
            t, rows, n, [&](Scratch& s) -> auto& { return (s.*ranked).beam; }, zero,
            [&](auto& strategy, auto&&... where) {
              strategy.start(where..., k, search.beam, bound, rankings[t]);
            });
      } else {
        ask_tree(
            t, rows, n, [&](Scratch& s) -> auto& { return (s.*ranked).exact; }, zero,
            [&](auto& strategy, auto&&... where) { strategy.start(where..., k, bound, rankings[t]); });
      }
    }
    for (size_t i = 0; i < n; ++i) {
      Scratch& scratch = *rows[i];
      const int64_t row = first + static_cast<int64_t>(i);
      if (joint && n_labels() > 0) {
        (*rows[0].*ranked).joint.finish(average_, scratch.searches, rankings, search, scratch.pooled);
      } else if (!single) {
        zero ? average_.average_proposed(scratch.weighted, scratch.pooled)
             : average_.average(scratch.searches, scratch.pooled);
        std::erase_if(scratch.pooled, [&](const ScoredLabel& s) { return s.probability < search.threshold; });
        keep_best(k, scratch.pooled, rankings[0]);  // labels weigh the same in all trees
      }
      write_ranked(scratch.pooled, k, wanted.labels + row * k, wanted.probabilities + row * k);
      if (wanted.evaluations) wanted.evaluations[row] = count_evaluations(scratch.searches);
    }
  };
  if constexpr (Store::kSharesBlocks) {
    if (const int64_t n = n_in_batch(wanted.n_rows, search); n > 0) {
      top_k_in_batch(rankings[0], n, masks, wanted, search, answer);
      return;
    }
  }
  for_rows(wanted.n_rows, search.n_threads, side_by_side, answer);
}

template <class Store>
std::vector<std::vector<ScoredLabel>> ForestOf<Store>::above(const FeatureMatrix& features,
                                                             const Search& search,
                                                             int64_t* evaluations) const {
  const NodeMasks masks(*this, search.allowed);
  std::vector<std::vector<float>> node_threshold;
  if (search.label_threshold) {
    for (const auto& tree : trees_) {
      node_threshold.push_back(subtree_minimum(tree->tree(), search.label_threshold));
    }
  }
  std::vector<std::vector<ScoredLabel>> result(features.n_rows());
  const int64_t side_by_side = n_side_by_side(features.n_rows(), search.n_threads);
  for_rows(features.n_rows(), search.n_threads, side_by_side, [&](int64_t first, size_t n, const Rows& rows) {
    for (size_t i = 0; i < n; ++i) start(*rows[i], features, first + static_cast<int64_t>(i), search, masks);
    for (size_t t = 0; t < trees_.size(); ++t) {
      const float* of_node = search.label_threshold ? node_threshold[t].data() : nullptr;
      ask_tree(
          t, rows, n, [](Scratch& s) -> auto& { return s.above; }, false,
          [&](ThresholdSearch<Tree>& strategy, auto&&... where) {
            strategy.start(where..., of_node, search.threshold);
          });
    }
    for (size_t i = 0; i < n; ++i) {
      Scratch& scratch = *rows[i];
      const int64_t row = first + static_cast<int64_t>(i);
      if (trees_.size() > 1) {
        average_.average(scratch.searches, scratch.pooled);
        std::erase_if(scratch.pooled,
                      [&](const ScoredLabel& s) { return s.probability < search.threshold_of(s.label); });
      }
      keep_best(search.k, scratch.pooled);
      result[row] = scratch.pooled;
      if (evaluations) evaluations[row] = count_evaluations(scratch.searches);
    }
  });
  return result;
}

template <class Store>
void ForestOf<Store>::pairs(const FeatureMatrix& features, const int64_t* rows, const int32_t* labels,
                            int64_t n, const Search& search, float* probabilities) const {
  const std::vector<int64_t> starts = run_starts(rows, n);  // so that a row's blocks are expanded once
  const NodeMasks masks(*this, nullptr);
  const int64_t n_runs = static_cast<int64_t>(starts.size()) - 1;
  for_rows(n_runs, search.n_threads, 1, [&](int64_t run, size_t, const Rows& rows_alone) {
    Scratch& scratch = *rows_alone[0];
    start(scratch, features, rows[starts[run]], search, masks);
    for (int64_t i = starts[run]; i < starts[run + 1]; ++i) {
      scratch.pooled.assign(1, {0.0f, labels[i]});
      average_.average(scratch.searches, scratch.pooled);
      probabilities[i] = scratch.pooled[0].probability;
    }
  });
}

}  // namespace labeltree
