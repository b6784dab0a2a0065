// The entries of some rows, sorted by the item that each is about: a word or a node.
#pragma once

#include <cstdint>
#include <vector>

namespace labeltree {

class EntriesByItem {
 public:
  explicit EntriesByItem(int64_t n_items) : place_(n_items, -1) {}

  // Row r has the entries row_begin[r] to row_begin[r + 1], which are about item[entry].
  void sort(const std::vector<int64_t>& row_begin, const std::vector<int32_t>& item);

  // The different items, in the order in which they came.
  int64_t n_items() const { return static_cast<int64_t>(items_.size()); }
  int32_t item(int64_t i) const { return items_[i]; }
  // The entries of the i-th of them are begin(i) to begin(i + 1), by row.
  int64_t begin(int64_t i) const { return begin_[i]; }
  int64_t size(int64_t i) const { return begin_[i + 1] - begin_[i]; }
  const int32_t* rows() const { return row_.data(); }
  const int32_t* entries() const { return entry_.data(); }

 private:
  std::vector<int32_t> place_;  // per item: where it is in items_, -1 if it is not
  std::vector<int32_t> items_;
  std::vector<int64_t> begin_;
  std::vector<int32_t> row_, entry_;
};

}  // namespace labeltree
