#include "search/guided_search.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "search/subtree_values.h"

namespace labeltree {

GuidedSearch::GuidedSearch(const LabelTreeView& tree, int64_t n_rows, GuidedStrategy strategy,
                           const Search& search)
    : tree_(tree),
      n_rows_(n_rows),
      strategy_(strategy),
      k_(std::min<int64_t>(search.k, tree.n_labels)),
      beam_(search.beam),
      threshold_(search.threshold) {
  if (n_rows < 0 || k_ < 1 || (strategy == GuidedStrategy::beam && beam_ < 1)) {
    throw std::invalid_argument("a search needs n_rows of at least 0, and k and a beam of at least 1");
  }
  if (search.label_threshold != nullptr) node_threshold_ = subtree_minimum(tree, search.label_threshold);
  if (search.allowed != nullptr) node_allowed_ = subtree_any(tree, search.allowed);
  if (search.label_weight != nullptr) {
    label_weight_.assign(search.label_weight, search.label_weight + tree.n_labels);
    node_weight_ = subtree_maximum(tree, search.label_weight);
  }
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
    search.start(tree_, allowed(), p[0], k_, threshold_, ranking);
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
  if (strategy_ == GuidedStrategy::beam) return !tree_.is_leaf(node) || p >= threshold_;
  return p >= (node_threshold_.empty() ? threshold_ : node_threshold_[node]);
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
  if (strategy_ == GuidedStrategy::beam) {
    is_by_worth() ? keep_beam(beam_, waiting, by_worth()) : keep_beam(beam_, waiting, ByProbability{});
  }
  for (const ScoredNode& node : waiting) wanted.push_back({row, node});
  waiting.clear();
}

std::vector<ScoredLabel> GuidedSearch::found(int64_t row) const {
  std::vector<ScoredLabel> labels = !is_best_first() ? by_level_[row].found
                                    : is_by_worth()  ? worthiest_first_[row].found()
                                                     : best_first_[row].found();
  is_by_worth() ? keep_best(k_, labels, by_worth()) : keep_best(k_, labels);
  return labels;
}

}  // namespace labeltree
