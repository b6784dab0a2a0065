// Counts the features of one row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace labeltree {

// A feature of a row, by its column or, while a vocabulary is learned, by the number of its term.
template <class Amount>
struct RowFeature {
  uint32_t feature;
  Amount amount;
};
using CountedFeature = RowFeature<int32_t>;  // how often it occurs
using WeighedFeature = RowFeature<float>;    // its counts in the pieces of a row, by their weights

// A small hash table that stays in the cache: rows have few features, whatever the number of columns.
template <class Amount>
class RowCounts {
 public:
  void add(uint32_t feature, Amount amount) {
    if (features_.size() * 2 >= slots_.size()) grow();
    for (size_t at = home(feature);; at = (at + 1) & (slots_.size() - 1)) {
      const uint32_t place = slots_[at];
      if (place == 0) {
        features_.push_back({feature, amount});
        taken_.push_back(static_cast<uint32_t>(at));
        slots_[at] = static_cast<uint32_t>(features_.size());
        return;
      }
      if (features_[place - 1].feature == feature) {
        features_[place - 1].amount += amount;
        return;
      }
    }
  }

  // In the order in which they came.
  const std::vector<RowFeature<Amount>>& features() const { return features_; }

  void clear() {
    for (const uint32_t at : taken_) slots_[at] = 0;
    features_.clear();
    taken_.clear();
  }

 private:
  size_t home(uint32_t feature) const { return (feature * 0x9e3779b1u >> 7) & (slots_.size() - 1); }

  void grow() {
    slots_.assign(std::max<size_t>(1024, slots_.size() * 4), 0);
    std::vector<RowFeature<Amount>> old;
    old.swap(features_);
    taken_.clear();
    for (const RowFeature<Amount>& one : old) add(one.feature, one.amount);
  }

  std::vector<uint32_t> slots_;  // 1 + the place in features_, or 0
  std::vector<RowFeature<Amount>> features_;
  std::vector<uint32_t> taken_;
};

}  // namespace labeltree
