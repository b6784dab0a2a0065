#include "guided_search.h"

#include <algorithm>
#include <utility>

namespace labeltree {

GuidedSearch::GuidedSearch(const LabelTreeView& tree, int64_t n_rows, GuidedSearchOptions options)
    : tree_(tree), options_(std::move(options)), rows_(n_rows) {
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
    accept(rows_[row], parent, probabilities);
    probabilities += n_children(parent.node);
    if (i + 1 == wanted_.size() || wanted_[i + 1].row != row) want_next(row, next);
  }
  wanted_ = std::move(next);
}

bool GuidedSearch::useful(const Row& row, float p) const {
  // As in TreeSearch: ties go on, since of equal labels the first by number wins; but not at 0.
  if (static_cast<int64_t>(row.found.size()) < options_.k) return p >= options_.threshold;
  return p > row.found.front().probability || (p == row.found.front().probability && p > 0);
}

bool GuidedSearch::passes(const Row& row, int32_t node, float p) const {
  if (!options_.node_allowed.empty() && !options_.node_allowed[node]) return false;
  switch (options_.strategy) {
    case SearchStrategy::best_first:
      return useful(row, p);
    case SearchStrategy::all_above:
      return p >= (options_.node_threshold.empty() ? options_.threshold : options_.node_threshold[node]);
    case SearchStrategy::beam:
      return !tree_.is_leaf(node) || p >= options_.threshold;
  }
  return false;
}

void GuidedSearch::accept(Row& row, const ScoredNode& parent, const float* p) {
  const bool best_first = options_.strategy == SearchStrategy::best_first;
  const int32_t first = first_child(parent.node), last = first + n_children(parent.node);
  for (int32_t child = first; child < last; ++child) {
    const float probability = parent.probability * p[child - first];
    if (!passes(row, child, probability)) continue;
    if (!tree_.is_leaf(child)) {
      row.queue.push_back({probability, child});
      if (best_first) std::push_heap(row.queue.begin(), row.queue.end());
      continue;
    }
    row.found.push_back({probability, tree_.label[child]});
    if (!best_first) continue;
    std::push_heap(row.found.begin(), row.found.end());
    if (static_cast<int64_t>(row.found.size()) > options_.k) {
      std::pop_heap(row.found.begin(), row.found.end());
      row.found.pop_back();
    }
  }
}

void GuidedSearch::want_next(int64_t number, std::vector<Wanted>& wanted) {
  Row& row = rows_[number];
  if (options_.strategy == SearchStrategy::best_first) {
    if (!row.queue.empty() && useful(row, row.queue.front().probability)) {
      std::pop_heap(row.queue.begin(), row.queue.end());
      wanted.push_back({number, row.queue.back()});
      row.queue.pop_back();
    } else {
      row.queue = {};  // this row is finished: others may need the memory
    }
    return;
  }
  if (options_.strategy == SearchStrategy::beam && static_cast<int64_t>(row.queue.size()) > options_.beam) {
    std::nth_element(row.queue.begin(), row.queue.begin() + options_.beam, row.queue.end(),
                     [](const ScoredNode& a, const ScoredNode& b) { return b < a; });
    row.queue.resize(options_.beam);
  }
  for (const ScoredNode& node : row.queue) wanted.push_back({number, node});
  row.queue.clear();
}

std::vector<ScoredLabel> GuidedSearch::found(int64_t row) const {
  std::vector<ScoredLabel> labels = rows_[row].found;
  keep_best(options_.k, labels);
  return labels;
}

}  // namespace labeltree
