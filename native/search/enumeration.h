// The labels of one row one by one, best first.
#pragma once

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
// label gets its average, and the best is given out when no unseen label can be better.
class ForestEnumeration final : public Enumeration {
 public:
  ForestEnumeration(std::shared_ptr<const Forest> forest, const FeatureMatrix& features, int64_t row,
                    const Search& search);
  bool next(ScoredLabel& out) override;

 private:
  std::shared_ptr<const Forest> forest_;
  FeatureRow query_;
  Forest::NodeMasks masks_;
  std::vector<TreeSearch> searches_;
  std::vector<ScoredLabel> label_;  // the one that is averaged
  std::vector<double> frontier_;    // per tree: the probability of its last label, -1 when it has no more
  std::vector<ScoredLabel> ready_;  // seen but not given out: a heap, best on top
  std::vector<uint8_t> seen_;       // per label
};

}  // namespace labeltree
