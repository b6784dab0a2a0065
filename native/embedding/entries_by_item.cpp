#include "embedding/entries_by_item.h"

#include <cstddef>

namespace labeltree {

void EntriesByItem::sort(const std::vector<int64_t>& row_begin, const std::vector<int32_t>& item) {
  items_.clear();
  begin_.assign(1, 0);
  for (const int32_t i : item) {
    if (place_[i] < 0) {
      place_[i] = static_cast<int32_t>(items_.size());
      items_.push_back(i);
      begin_.push_back(0);
    }
    ++begin_[place_[i] + 1];
  }
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  row_.resize(item.size());
  entry_.resize(item.size());
  for (std::size_t row = 0; row + 1 < row_begin.size(); ++row) {
    for (int64_t k = row_begin[row]; k < row_begin[row + 1]; ++k) {
      const int64_t at = begin_[place_[item[k]]]++;
      row_[at] = static_cast<int32_t>(row);
      entry_[at] = static_cast<int32_t>(k);
    }
  }
  for (std::size_t i = begin_.size() - 1; i > 0; --i) begin_[i] = begin_[i - 1];
  begin_[0] = 0;
  for (const int32_t i : items_) place_[i] = -1;
}

}  // namespace labeltree
