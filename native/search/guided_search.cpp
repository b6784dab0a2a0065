#include "search/guided_search.h"

#include <algorithm>
#include <utility>

namespace labeltree {

GuidedSearch::GuidedSearch(const LabelTreeView& tree, int64_t n_rows, GuidedSearchOptions options)
    : tree_(tree), options_(std::move(options)), n_rows_(n_rows) {
  if (!is_best_first()) {
    by_level_.resize(n_rows);
  } else if (is_by_worth()) {
    worthiest_first_.resize(n_rows);
  } else {
    best_first_.resize(n_rows);
  }
  wanted_.reserve(n_rows);
  for (int64_t row = 0; row < n_rows; ++row) wanted_.push_back({row, {1.0f, -1}});
}

int64_t GuidedSearch::n_wanted_nodes() const {
  int64_t n = 0;
  for (const Wanted& wanted : wanted_) n += n_children(wanted.parent.node);
  return n;
}

void GuidedSearch::give(const float* probabilities) {
  std::vector<Wanted> next;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const auto& [row, parent] = wanted_[i];
    if (!is_best_first()) {
      accept(by_level_[row], parent, probabilities);
      if (i + 1 == wanted_.size() || wanted_[i + 1].row != row) want_level(row, next);
    } else if (is_by_worth()) {
      go_on(worthiest_first_[row], by_worth(), row, parent.node, probabilities, next);
    } else {
      go_on(best_first_[row], ByProbability{}, row, parent.node, probabilities, next);
    }
    probabilities += n_children(parent.node);
  }
  wanted_ = std::move(next);
}

template <class Ranking>
void GuidedSearch::go_on(TopKSearch<LabelTreeView, Ranking>& search, const Ranking& ranking, int64_t row,
                         int32_t parent, const float* p, std::vector<Wanted>& wanted) {
  if (parent < 0) {
    const auto k = static_cast<int>(std::min<int64_t>(options_.k, tree_.n_labels));
    search.start(tree_, allowed(), p[0], k, options_.threshold, ranking);
  } else {
    search.give(p);
  }
  if (search.wanted() >= 0) {
    wanted.push_back({row, {0.0f, search.wanted()}});
  } else {
    search.release_waiting();  // this row is finished: others may need the memory
  }
}

bool GuidedSearch::passes(int32_t node, float p) const {
  if (allowed() != nullptr && !allowed()[node]) return false;
  if (options_.strategy == GuidedStrategy::beam) return !tree_.is_leaf(node) || p >= options_.threshold;
  return p >= (options_.node_threshold.empty() ? options_.threshold : options_.node_threshold[node]);
}

void GuidedSearch::accept(LevelSearch& search, const ScoredNode& parent, const float* p) const {
  const int32_t first = first_child(parent.node), last = first + n_children(parent.node);
  for (int32_t child = first; child < last; ++child) {
    const float probability = parent.probability * p[child - first];
    if (!passes(child, probability)) continue;
    if (tree_.is_leaf(child)) {
      search.found.push_back({probability, tree_.label[child]});
    } else {
      search.waiting.push_back({probability, child});
    }
  }
}

void GuidedSearch::want_level(int64_t row, std::vector<Wanted>& wanted) {
  std::vector<ScoredNode>& waiting = by_level_[row].waiting;
  if (options_.strategy == GuidedStrategy::beam) {
    is_by_worth() ? keep_beam(options_.beam, waiting, by_worth())
                  : keep_beam(options_.beam, waiting, ByProbability{});
  }
  for (const ScoredNode& node : waiting) wanted.push_back({row, node});
  waiting.clear();
}

std::vector<ScoredLabel> GuidedSearch::found(int64_t row) const {
  std::vector<ScoredLabel> labels = !is_best_first() ? by_level_[row].found
                                    : is_by_worth()  ? worthiest_first_[row].found()
                                                     : best_first_[row].found();
  is_by_worth() ? keep_best(options_.k, labels, by_worth()) : keep_best(options_.k, labels);
  return labels;
}

}  // namespace labeltree
