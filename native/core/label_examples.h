// The examples of every label: the label matrix by columns.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/label_matrix.h"

namespace labeltree {

// Some of the labels: [first, last).
struct LabelRange {
  int32_t first, last;

  int32_t size() const { return last - first; }
};

// Label j of the range is carried by rows[begin[j] .. begin[j + 1]), ascending; j counts from 0.
struct LabelExamples {
  std::vector<int64_t> begin;
  std::vector<int32_t> rows;

  LabelExamples(const LabelMatrixView& labels, int32_t n_labels)
      : LabelExamples(labels, LabelRange{0, n_labels}) {}

  LabelExamples(const LabelMatrixView& labels, const LabelRange& range) : begin(range.size() + 1, 0) {
    collect(labels, [&](int32_t label) {
      return label >= range.first && label < range.last ? label - range.first : -1;
    });
  }

  // Some labels with numbers from 0 to n - 1 of their own: number[label], or -1 for a label that is left out.
  LabelExamples(const LabelMatrixView& labels, const std::vector<int32_t>& number, int64_t n)
      : begin(n + 1, 0) {
    collect(labels, [&](int32_t label) { return number[label]; });
  }

  int32_t n_labels() const { return static_cast<int32_t>(begin.size()) - 1; }
  int64_t count(int32_t label) const { return begin[label + 1] - begin[label]; }

 private:
  // `number_of(label)` is -1 for a label that is left out.
  template <class Number>
  void collect(const LabelMatrixView& labels, const Number& number_of) {
    const auto visit = [&](const auto& action) {
      for (int64_t i = 0; i < labels.n_rows; ++i) {
        for (int64_t k = labels.indptr[i]; k < labels.indptr[i + 1]; ++k) {
          const int32_t number = number_of(labels.indices[k]);
          if (number >= 0) action(number, static_cast<int32_t>(i));
        }
      }
    };
    // While the rows are placed, begin[j + 1] is where the next row of label j goes.
    visit([&](int32_t label, int32_t) { ++begin[label + 1]; });
    int64_t total = 0;
    for (size_t j = 1; j < begin.size(); ++j) total += std::exchange(begin[j], total);
    rows.resize(total);
    visit([&](int32_t label, int32_t row) { rows[begin[label + 1]++] = row; });
  }
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
