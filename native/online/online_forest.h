// Online trees that learn the same examples and answer together.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/feature_matrix.h"
#include "online/online_tree.h"
#include "search/enumeration.h"
#include "search/forest.h"
#include "search/search.h"

namespace labeltree {

extern template class ForestOf<OnlineTree>;

// Examples to learn, in the order of `rows`.
struct Lessons {
  const FeatureMatrix& features;
  const int64_t* label_indptr;
  const int32_t* labels;
  const int64_t* rows;
  int64_t n_rows;
  const float* weight;  // of every row of the features, or null
};

// The trees have the same labels, by the same numbers, and learn every example together: all of them, or
// none. Probabilities are their plain mean. One thread may call learn() or forget(); while none does, any
// number may ask.
class OnlineForest {
 public:
  explicit OnlineForest(std::vector<std::shared_ptr<OnlineTree>> trees);

  int32_t n_labels() const { return trees_[0]->n_labels(); }
  size_t n_trees() const { return trees_.size(); }
  const OnlineTree& tree(size_t t) const { return *trees_[t]; }
  // The trees as a forest that answers questions.
  const ForestOf<OnlineTree>& answers() const { return *answers_; }

  // Where the k best labels of every lesson before it is learned are to be written: [lesson][k].
  struct Predictions {
    Search search;
    int32_t* labels;
    float* probabilities;
  };
  // Trees learn side by side, one thread for each, with the same result. If a lesson cannot be learned, those
  // before it are learned, and the exception says why. `predictions` may be null.
  void learn(const Lessons& lessons, int n_threads, const Predictions* predictions);
  // All trees forget, or none.
  void forget(const std::vector<uint8_t>& label_kept);

  // All labels of one row, best first. next() throws std::runtime_error once the trees have changed.
  std::unique_ptr<Enumeration> enumerate(const FeatureMatrix& features, int64_t row,
                                         const Search& search) const;

 private:
  std::vector<std::shared_ptr<OnlineTree>> trees_;
  std::shared_ptr<const ForestOf<OnlineTree>> answers_;
  std::shared_ptr<int64_t> n_changes_;
};

}  // namespace labeltree
