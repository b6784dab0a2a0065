// The examples of every label: the label matrix by columns.
#pragma once

#include <cstdint>
#include <vector>

#include "core/label_matrix.h"

namespace labeltree {

// Label j is carried by rows[begin[j] .. begin[j + 1]), ascending.
struct LabelExamples {
  std::vector<int64_t> begin;
  std::vector<int32_t> rows;

  LabelExamples(const LabelMatrixView& labels, int32_t n_labels)
      : begin(n_labels + 1, 0), rows(labels.indptr[labels.n_rows]) {
    for (int64_t k = 0; k < labels.indptr[labels.n_rows]; ++k) ++begin[labels.indices[k] + 1];
    for (int32_t j = 0; j < n_labels; ++j) begin[j + 1] += begin[j];
    std::vector<int64_t> at(begin.begin(), begin.end() - 1);
    for (int64_t i = 0; i < labels.n_rows; ++i) {
      for (int64_t k = labels.indptr[i]; k < labels.indptr[i + 1]; ++k) {
        rows[at[labels.indices[k]]++] = static_cast<int32_t>(i);
      }
    }
  }

  int32_t n_labels() const { return static_cast<int32_t>(begin.size()) - 1; }
  int64_t count(int32_t label) const { return begin[label + 1] - begin[label]; }
};

// Counts the examples that have one of several labels; keeps a mark per example, so one per worker.
class ExampleCounter {
 public:
  ExampleCounter(const LabelExamples& examples, int64_t n_rows) : examples_(examples), seen_(n_rows, 0) {}

  int64_t count(const std::vector<int32_t>& labels) {
    ++round_;
    int64_t n = 0;
    for (const int32_t label : labels) {
      for (int64_t k = examples_.begin[label]; k < examples_.begin[label + 1]; ++k) {
        uint32_t& seen = seen_[examples_.rows[k]];
        n += seen != round_;
        seen = round_;
      }
    }
    return n;
  }

 private:
  const LabelExamples& examples_;
  std::vector<uint32_t> seen_;
  uint32_t round_ = 0;
};

}  // namespace labeltree
