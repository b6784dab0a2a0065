#include "search/enumeration.h"

#include <algorithm>

namespace labeltree {

ForestEnumeration::ForestEnumeration(std::shared_ptr<const Forest> forest, const FeatureMatrix& features,
                                     int64_t row, const Search& search)
    : forest_(std::move(forest)),
      masks_(*forest_, search.allowed),
      frontier_(forest_->n_trees(), 1.0),
      seen_(forest_->n_labels(), 0) {
  features.append(row, query_);
  for (size_t t = 0; t < forest_->n_trees(); ++t) {
    searches_.emplace_back(forest_->tree(t));
    searches_[t].start(query_, search.normalize_siblings, masks_.of_tree(t));
    searches_[t].start_enumeration();
  }
}

bool ForestEnumeration::next(ScoredLabel& out) {
  const auto worse = [](const ScoredLabel& a, const ScoredLabel& b) { return b < a; };
  const TreeAverage& average = forest_->average();
  for (;;) {
    // No label that no tree has enumerated yet has a better average than this.
    const float bound = static_cast<float>(average.mean(frontier_));
    // A tree that has no more labels has given all of them.
    const bool exhausted = std::any_of(frontier_.begin(), frontier_.end(), [](double p) { return p < 0; });
    if (!ready_.empty() && (exhausted || ready_.front().probability >= bound)) break;
    if (exhausted) return false;
    for (size_t t = 0; t < frontier_.size(); ++t) {
      ScoredLabel found;
      if (!searches_[t].next(found)) {
        frontier_[t] = -1;
        continue;
      }
      frontier_[t] = found.probability;
      if (std::exchange(seen_[found.label], 1)) continue;
      label_.assign(1, found);
      average.average(searches_, label_);
      ready_.push_back(label_[0]);
      std::push_heap(ready_.begin(), ready_.end(), worse);
    }
  }
  std::pop_heap(ready_.begin(), ready_.end(), worse);
  out = ready_.back();
  ready_.pop_back();
  return true;
}

}  // namespace labeltree
