// Dividing examples into two halves so that each is well served by one ranking of the labels.
#pragma once

#include <cstdint>
#include <vector>

#include "core/label_matrix.h"
#include "core/progress.h"

namespace labeltree {

// What the labels of examples are worth.
struct GainView {
  LabelMatrixView labels;
  int32_t n_labels;
  const double* row_gain;    // per row: its weight, over its ideal DCG where rankings are normalised
  const double* label_gain;  // per label, or null for 1
};

// Keeps tables of all labels, so one per worker.
class RankingSplit {
 public:
  explicit RankingSplit(const GainView& gains);

  // From the sides in `positive` on, one per row, alternates: each side ranks the labels by what its rows
  // gain from them, each row goes to the side whose ranking gives its labels the larger discounted gain.
  // Until the gain of all rows stays the same. A row that gains the same from both stays where it is.
  void run(const int32_t* rows, int64_t n_rows, std::vector<uint8_t>& positive, const Progress& progress);

 private:
  void number_labels(const int32_t* rows, int64_t n_rows);
  // Adds sign * discount of its rank to every label's advantage_; returns the gain of the side.
  double rank(std::vector<double>& sum, double sign);

  GainView gains_;
  std::vector<double> discount_;  // of a rank
  std::vector<int32_t> local_;    // of a label: its number among those of the rows, -1 elsewhere
  std::vector<int32_t> label_;    // the labels of the rows, ascending
  std::vector<int64_t> begin_;    // row i has the numbers [begin_[i], begin_[i + 1])
  std::vector<int32_t> number_;
  std::vector<double> gain_;       // of a number
  std::vector<double> sum_[2];     // per number and side
  std::vector<double> advantage_;  // of being ranked by the positive side
  std::vector<int32_t> order_;
};

}  // namespace labeltree
