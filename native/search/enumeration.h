// The labels of one row one by one, best first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "search/forest.h"
#include "search/ranking.h"
#include "search/tree_search.h"

namespace labeltree {

class Enumeration {
 public:
  virtual ~Enumeration() = default;
  // Whether there is another label, which is then written to `out`.
  virtual bool next(ScoredLabel& out) = 0;
};

// Labels that are all known, best first.
class ListedLabels final : public Enumeration {
 public:
  explicit ListedLabels(std::vector<ScoredLabel> labels) : labels_(std::move(labels)) {}

  bool next(ScoredLabel& out) override {
    if (at_ == labels_.size()) return false;
    out = labels_[at_++];
    return true;
  }

 private:
  std::vector<ScoredLabel> labels_;
  size_t at_ = 0;
};

// Exact for any number of trees (Fagin's threshold algorithm): every tree enumerates its own labels, each new
// label gets its average, and the best is given out when no unseen label can be better. As in top_k(), equal
// labels come in the order of their numbers, but not at 0, where whole trees may be tied.
template <class Store>
class ForestEnumeration : public Enumeration {
 public:
  // The trees must not change as long as next() is called.
  ForestEnumeration(std::shared_ptr<const ForestOf<Store>> forest, const FeatureMatrix& features, int64_t row,
                    const Search& search)
      : forest_(std::move(forest)),
        masks_(*forest_, search.allowed),
        bounds_(forest_->n_trees()),
        seen_(forest_->n_labels(), 0) {
    forest_->tree(0).read(features, row, query_);
    for (size_t t = 0; t < forest_->n_trees(); ++t) {
      searches_.emplace_back(forest_->tree(t));
      searches_[t].start(query_, search.normalize_siblings, masks_.of_tree(t));
      searches_[t].start_enumeration();
      bounds_[t] = searches_[t].bound_of_next();
    }
  }
  ForestEnumeration(const ForestEnumeration&) = delete;  // the searches look into the members
  ForestEnumeration& operator=(const ForestEnumeration&) = delete;

  bool next(ScoredLabel& out) override {
    const auto worse = [](const ScoredLabel& a, const ScoredLabel& b) { return b < a; };
    while (!is_best_ready()) {
      if (is_exhausted()) return false;
      for (size_t t = 0; t < searches_.size(); ++t) {
        ScoredLabel found;
        const bool is_found = searches_[t].next(found);
        bounds_[t] = searches_[t].bound_of_next();
        if (!is_found || std::exchange(seen_[found.label], 1)) continue;
        label_.assign(1, found);
        forest_->average().average(searches_, label_);
        ready_.push_back(label_[0]);
        std::push_heap(ready_.begin(), ready_.end(), worse);
      }
    }
    std::pop_heap(ready_.begin(), ready_.end(), worse);
    out = ready_.back();
    ready_.pop_back();
    return true;
  }

 private:
  // A tree that has no more labels has given all of them.
  bool is_exhausted() const {
    return std::any_of(bounds_.begin(), bounds_.end(), [](double bound) { return bound < 0; });
  }
  bool is_best_ready() const {
    if (ready_.empty() || is_exhausted()) return !ready_.empty();
    // No label that no tree has given yet has a better average than this.
    const auto bound = static_cast<float>(forest_->average().mean(bounds_));
    return ready_.front().probability > bound || bound == 0;
  }

  std::shared_ptr<const ForestOf<Store>> forest_;
  typename Store::Query query_;
  typename ForestOf<Store>::NodeMasks masks_;
  std::vector<TreeSearch<Store>> searches_;
  std::vector<ScoredLabel> label_;  // the one that is averaged
  std::vector<double> bounds_;      // per tree, of the labels that it has not given yet
  std::vector<ScoredLabel> ready_;  // seen but not given out: a heap, best on top
  std::vector<uint8_t> seen_;       // per label
};

}  // namespace labeltree
