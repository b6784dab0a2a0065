#include "rivals/fastxml/ranking_split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace labeltree {

namespace {

// An alternation that brings less than this, per row, is the last.
constexpr double kLeastGain = 1e-6;

}  // namespace

RankingSplit::RankingSplit(const GainView& gains)
    : gains_(gains), discount_(gains.n_labels), local_(gains.n_labels, -1) {
  for (int32_t rank = 0; rank < gains.n_labels; ++rank) discount_[rank] = 1 / std::log2(rank + 2.0);
}

void RankingSplit::number_labels(const int32_t* rows, int64_t n_rows) {
  const LabelMatrixView& labels = gains_.labels;
  label_.clear();
  for (int64_t i = 0; i < n_rows; ++i) {
    for (int64_t k = labels.indptr[rows[i]]; k < labels.indptr[rows[i] + 1]; ++k) {
      int32_t& local = local_[labels.indices[k]];
      if (local >= 0) continue;
      local = 0;
      label_.push_back(labels.indices[k]);
    }
  }
  std::sort(label_.begin(), label_.end());
  gain_.clear();
  for (size_t number = 0; number < label_.size(); ++number) {
    local_[label_[number]] = static_cast<int32_t>(number);
    gain_.push_back(gains_.label_gain != nullptr ? gains_.label_gain[label_[number]] : 1);
  }
  begin_.assign(1, 0);
  number_.clear();
  for (int64_t i = 0; i < n_rows; ++i) {
    for (int64_t k = labels.indptr[rows[i]]; k < labels.indptr[rows[i] + 1]; ++k) {
      number_.push_back(local_[labels.indices[k]]);
    }
    begin_.push_back(static_cast<int64_t>(number_.size()));
  }
  for (const int32_t label : label_) local_[label] = -1;
}

double RankingSplit::rank(std::vector<double>& sum, double sign) {
  order_.resize(sum.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(),
            [&](int32_t a, int32_t b) { return sum[a] != sum[b] ? sum[a] > sum[b] : a < b; });
  double gain = 0;
  for (size_t r = 0; r < order_.size(); ++r) {
    gain += discount_[r] * sum[order_[r]];
    advantage_[order_[r]] += sign * discount_[r];
  }
  return gain;
}

void RankingSplit::run(const int32_t* rows, int64_t n_rows, std::vector<uint8_t>& positive,
                       const Progress& progress) {
  number_labels(rows, n_rows);
  double last = -1;
  for (;;) {
    progress.check();
    for (std::vector<double>& sum : sum_) sum.assign(label_.size(), 0.0);
    for (int64_t i = 0; i < n_rows; ++i) {
      std::vector<double>& sum = sum_[positive[i]];
      for (int64_t k = begin_[i]; k < begin_[i + 1]; ++k) {
        sum[number_[k]] += gains_.row_gain[rows[i]] * gain_[number_[k]];
      }
    }
    advantage_.assign(label_.size(), 0.0);
    const double gain = (rank(sum_[0], -1) + rank(sum_[1], 1)) / static_cast<double>(n_rows);
    for (int64_t i = 0; i < n_rows; ++i) {
      double advantage = 0;
      for (int64_t k = begin_[i]; k < begin_[i + 1]; ++k) {
        advantage += gain_[number_[k]] * advantage_[number_[k]];
      }
      if (advantage != 0) positive[i] = advantage > 0;
    }
    if (gain - last < kLeastGain) return;
    last = gain;
  }
}

}  // namespace labeltree
